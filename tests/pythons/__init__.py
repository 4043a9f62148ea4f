"""Other versions of Python than the one that runs the tests: those that this machine has."""
