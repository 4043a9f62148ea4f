"""What several policies share. Policies import nothing of each other."""
