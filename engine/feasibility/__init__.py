"""Decides whether a pod can run on a node once some pods have left, as kube-scheduler's filters do."""

from engine.feasibility.checks import NodeRefusal
from engine.feasibility.node_feasibility import FITS, Feasibility, NodeChecks
from engine.feasibility.node_rules import unsupported_rules
from engine.feasibility.selectors import matches

__all__ = ["FITS", "Feasibility", "NodeChecks", "NodeRefusal", "matches", "unsupported_rules"]
