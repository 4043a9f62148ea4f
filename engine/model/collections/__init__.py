"""Collections that share their unchanged parts with an earlier version of themselves."""
