"""Decides whether a pod can run on a node once some pods have left, as kube-scheduler's filters do."""

from engine.feasibility.checks import NodeRefusal
from engine.feasibility.node_feasibility import FITS, Feasibility, Spot
from engine.feasibility.node_rules import unjudged
from engine.feasibility.selectors import matches

__all__ = ["FITS", "Feasibility", "NodeRefusal", "Spot", "matches", "unjudged"]
