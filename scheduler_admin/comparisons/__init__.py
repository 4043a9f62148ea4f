"""Trees and policies held against each other on a moment or a recorded time of a cluster: jobs, and what they found."""
