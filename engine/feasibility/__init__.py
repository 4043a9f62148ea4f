"""May this pod run on that node, once some pods have left? As kube-scheduler's filters judge it."""

from engine.feasibility.checks import NodeRefusal
from engine.feasibility.node_feasibility import FITS, Feasibility, Spot
from engine.feasibility.node_rules import unjudged
from engine.feasibility.selectors import matches

__all__ = ["FITS", "Feasibility", "NodeRefusal", "Spot", "matches", "unjudged"]
