"""A small Kubernetes API server with simulated life behind it, for the demonstration and for tests."""
