"""Inspection of a cluster before it is used."""
