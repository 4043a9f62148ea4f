"""Explains in words what other schedulers evicted."""
