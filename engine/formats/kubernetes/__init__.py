"""Kubernetes objects, read into the types that policies decide on, and written back."""
