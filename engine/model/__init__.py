"""What everything is made of: quantities, the queue tree, a cluster at one moment, and what was decided."""
