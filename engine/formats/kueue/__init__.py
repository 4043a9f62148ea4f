"""Kueue's Cohorts, ClusterQueues and LocalQueues <-> QueueTree, and its Workloads. What has no field here is kept."""

from engine.formats.kueue.read import read
from engine.formats.kueue.write import write

__all__ = ["read", "write"]
