"""Native documents of Kubernetes and its schedulers, read into our types and written back."""
