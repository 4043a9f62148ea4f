"""Forms of the pages of clusters."""
