"""Lists and watches a cluster's objects, and stores their state."""
