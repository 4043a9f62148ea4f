"""Rules of names and words that a machine can hold: ``make lint`` runs them as ``python -m tests.house``."""
