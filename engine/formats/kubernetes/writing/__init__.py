"""Writing of a cluster's state as Kubernetes manifests."""
