"""Readers and writers of the documents of Kubernetes and its schedulers."""
