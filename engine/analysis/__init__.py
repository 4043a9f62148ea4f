"""Explain why a decision came out as it did, and what would have changed it."""
