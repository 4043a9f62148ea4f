"""Stores the objects of the simulated cluster, with the rules by which they are admitted, changed and deleted."""
