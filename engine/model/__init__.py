"""The data model of the engine: quantities, the queue tree, snapshots of a cluster, and decisions."""
