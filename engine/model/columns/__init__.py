"""Column-oriented storage of a snapshot's nodes and pods, so that queries over all of them are array operations."""
