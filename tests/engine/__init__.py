"""The engine, without Django, database or cluster."""
