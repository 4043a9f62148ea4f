"""Code that several policies share. Policies do not import from each other."""
