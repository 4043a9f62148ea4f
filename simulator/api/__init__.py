"""The HTTP API of the simulated cluster, as clients of Kubernetes expect it."""
