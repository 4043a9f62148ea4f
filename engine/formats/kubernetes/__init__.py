"""Conversion of Kubernetes objects to the types that policies use, and back."""
