"""The content of the simulated cluster: its manifests, and the script of its day."""
