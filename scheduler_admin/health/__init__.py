"""Answers probes and load balancers: whether this process lives, whether it can serve, and which version it is."""
