"""Policy ``deserved``: how much of a cluster each consumer deserves (kube-arbitrator). No node is looked at."""

from engine.policies.deserved.dividing import Method, deserved
from engine.policies.deserved.filling import Claim, fill

POLICY = "deserved"

__all__ = ["POLICY", "Claim", "Method", "deserved", "fill"]
