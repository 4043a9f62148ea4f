"""Explains why a pod or a workload is pending."""
