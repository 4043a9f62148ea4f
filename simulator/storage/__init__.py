"""The objects of the simulated cluster, and every rule by which they are admitted, changed and deleted."""
