"""One decision of the engine in words."""
