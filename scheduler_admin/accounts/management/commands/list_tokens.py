"""List API tokens with their scopes and last use: `manage.py list_tokens [USER]`."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand

from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.selectors import tokens

_COLUMNS = ("TOKEN", "USER", "KIND", "NAME", "SCOPES", "SUBTREE", "EXPIRES", "LAST USED")


class Command(BaseCommand):
    """List API tokens."""

    help = "List the API tokens with their first characters, owner, scopes, expiry and last use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the user."""
        parser.add_argument(
            "user", nargs="?", default="", help="List only the tokens of this user. Default: all users."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line per token, in columns."""
        del args
        lines = [_COLUMNS, *(_cells(token) for token in tokens(options["user"]))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cells(token: ApiToken) -> tuple[str, ...]:
    return (
        token.prefix,
        token.user.get_username(),
        "service" if token.user.service else "person",
        token.name,
        ",".join(token.scopes),
        token.subtree or "-",
        _time(token.expires_at),
        _time(token.last_used_at),
    )


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else "never"
