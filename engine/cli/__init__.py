"""What the subcommands of ``python -m engine`` do."""
