"""The controllers of the simulated cluster: what keeps replicas, jobs and disruption budgets as they should be."""
