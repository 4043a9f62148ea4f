"""Calculates exactly how much of a cluster every queue deserves."""
