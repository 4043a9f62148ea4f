"""The subcommands of ``python -m engine``."""
