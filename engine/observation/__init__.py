"""Observe what other schedulers did to a cluster, and what can be learned from it."""
