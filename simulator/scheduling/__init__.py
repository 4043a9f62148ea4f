"""The simulated kube-scheduler."""
