"""Conversion between Kueue's Cohorts, ClusterQueues and LocalQueues and a QueueTree, and reading of its Workloads.

Fields without a counterpart here are kept.
"""

from engine.formats.kueue.read import read
from engine.formats.kueue.write import write

__all__ = ["read", "write"]
