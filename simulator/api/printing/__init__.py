"""Formats objects for answers: whole, as a table, or as metadata alone."""
