"""The cluster's own copy of a tree: read, compared and written back."""
