"""How a cluster is followed: lists, watches, and what is kept of them."""
