"""Volcano's objects, and what it says of pods that it evicts."""
