"""The controllers of the simulated cluster: they maintain replicas, jobs and disruption budgets."""
