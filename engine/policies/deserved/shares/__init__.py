"""How much of a cluster every queue deserves, exactly."""
