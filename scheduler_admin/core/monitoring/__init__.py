"""What operators see of a process: its log, its counts, its release, and the broker that it needs."""
