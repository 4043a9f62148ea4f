"""Figures for Prometheus: what is stored by the web process, what only a worker knows by that worker."""
