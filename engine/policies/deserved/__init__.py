"""Policy ``deserved``: how much of a cluster each consumer deserves (kube-arbitrator)."""

from engine.policies.deserved.dividing import Method, deserved
from engine.policies.deserved.filling import Claim, fill
from engine.policies.deserved.ground import Ground, ground

POLICY = "deserved"

__all__ = ["POLICY", "Claim", "Ground", "Method", "deserved", "fill", "ground"]
