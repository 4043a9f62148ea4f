"""What migrations do to tables: make their rows immutable, and alter those that are in use."""
