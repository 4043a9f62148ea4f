"""The simulated kube-scheduler: its queue, its attempts and its messages."""
