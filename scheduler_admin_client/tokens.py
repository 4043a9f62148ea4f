"""The token with which requests are sent: a stored one, or the ID token that the platform of a pipeline issues."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import click
import urllib3

from scheduler_admin_client.transport import Transport, pool_for
from scheduler_admin_client.words import _

AUDIENCE = "SCHEDULER_ADMIN_AUDIENCE"
_GITHUB_URL, _GITHUB_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
_OK = 200


def find_token(file: Path | None, site: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the token for a site: from the file, else from the environment, else from GitHub.

    Raises click.UsageError where there is none, or none that can be one.
    """
    if file:
        return _checked(_read(file))
    for name in ("SCHEDULER_ADMIN_TOKEN", "SCHEDULER_ADMIN_ID_TOKEN"):
        if environment.get(name, "").strip():
            return _checked(environment[name])
    if environment.get(_GITHUB_URL) and environment.get(_GITHUB_TOKEN):
        return _checked(_of_github(environment, environment.get(AUDIENCE) or site))
    raise click.UsageError(
        _(
            "Provide a token with --token-file or SCHEDULER_ADMIN_TOKEN, or an ID token of your CI platform: in "
            "SCHEDULER_ADMIN_ID_TOKEN, or on GitHub by the permission id-token: write."
        )
    )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(_("The token cannot be read from %s.") % file) from error


def _checked(token: str) -> str:
    token = token.strip()
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise click.UsageError(_("The token is not valid: it must be one line without blanks."))
    return token


def _of_github(environment: Mapping[str, str], audience: str) -> str:
    """Return an ID token of the job that runs, for an audience."""
    address = environment[_GITHUB_URL]
    url = f"{address}{'&' if '?' in address else '?'}{urlencode({'audience': audience})}"
    headers = {"Authorization": f"Bearer {environment[_GITHUB_TOKEN]}", "Accept": "application/json"}
    try:
        response = Transport(pool_for(address)).request("GET", url, headers=headers, body=None, repeatable=True)
        found = json.loads(response.body)["value"] if response.status == _OK else ""
    except (urllib3.exceptions.HTTPError, ValueError, KeyError, TypeError):
        found = ""
    if not isinstance(found, str) or not found:
        raise click.UsageError(_("GitHub did not issue an ID token for %s.") % audience)
    return found
