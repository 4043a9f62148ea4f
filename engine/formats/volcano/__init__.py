"""Volcano's objects, and the messages it writes about pods that it evicts."""
