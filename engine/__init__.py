"""Deciding, explaining and carrying out preemption: no Django, no database, importable alone."""
