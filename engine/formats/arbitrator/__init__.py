"""Documents of kube-arbitrator: Consumers and Allocations."""
