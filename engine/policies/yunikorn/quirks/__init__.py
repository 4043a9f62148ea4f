"""Where YuniKorn departs from its own design: what it does, and what that leads to."""
