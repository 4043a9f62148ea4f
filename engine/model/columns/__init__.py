"""Nodes and pods of a snapshot as columns: questions to all of them at once are questions to arrays."""
