"""Searches the workloads to preempt for a pending workload: classic preemption and fair sharing, as in Kueue."""
