"""What other schedulers evicted, in words."""
