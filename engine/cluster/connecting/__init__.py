"""How an API server is reached, and how to sign in to it."""
