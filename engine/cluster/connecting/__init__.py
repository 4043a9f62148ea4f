"""How an API server is reached and signed in to."""
