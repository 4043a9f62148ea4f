"""The ways to preempt. Each is pure: snapshot, tree, ask and parameters in, Decision out."""
