"""Explains a decision of the engine in words."""
