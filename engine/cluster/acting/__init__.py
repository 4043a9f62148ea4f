"""Everything that is written to a cluster to carry out a decision."""
