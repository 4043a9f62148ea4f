"""Dialect ``volcano`` of policy ``deserved``: what queues deserve by Volcano's own plugins."""

from engine.policies.volcano.capacity import HierarchyError
from engine.policies.volcano.figures import figures

DIALECT = "volcano"

__all__ = ["DIALECT", "HierarchyError", "figures"]
