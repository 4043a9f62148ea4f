"""Policy ``deserved``: how much of a cluster each consumer deserves, and who gives it back (kube-arbitrator)."""

from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.deserved.deciding import DIALECT, POLICY, decide
from engine.policies.deserved.dividing import Method, deserved
from engine.policies.deserved.ground import Ground, ground
from engine.policies.deserved.question import Parameters
from engine.policies.deserved.standing import Standing, standing

__all__ = [
    "DIALECT",
    "POLICY",
    "SYSTEM",
    "Ground",
    "Method",
    "Parameters",
    "Standing",
    "decide",
    "deserved",
    "ground",
    "standing",
]
