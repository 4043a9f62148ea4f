"""A state of a cluster written as Kubernetes manifests."""
