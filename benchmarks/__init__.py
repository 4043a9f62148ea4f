"""How fast decisions are, on clusters of known shape. `python -m benchmarks decide --json`."""
