"""Dialect ``volcano`` of policy ``deserved``: what queues deserve by Volcano's own plugins, and who goes by them."""

from engine.policies.volcano.figures import figures
from engine.policies.volcano.queue_hierarchy import HierarchyError
from engine.policies.volcano.reclaim import FirstConsidered, Reclaim, reclaim

DIALECT = "volcano"

__all__ = ["DIALECT", "FirstConsidered", "HierarchyError", "Reclaim", "figures", "reclaim"]
