"""Which workloads go for one that waits: classic preemption and fair sharing, after Kueue."""
