"""Decides which requests are allowed: those with the token; without a token all but those a web page triggers."""

import hmac
from enum import Enum

from aiohttp import web

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OF_BROWSERS = ("Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode")
"""Headers that a browser adds to requests that a web page triggers, and that the page can't remove."""


class RejectionReason(Enum):
    """Why a request is rejected."""

    NO_TOKEN = "no token"  # noqa: S105
    BROWSER = "a browser"


def rejection_reason(request: web.Request, token: str | None) -> RejectionReason | None:
    """Return why a request is rejected; None: it is allowed.

    ``token`` is the simulator's. Without a token, a page of any site could change what runs on its reader's own
    machine.
    """
    if token is None:
        changes = request.method not in _READS and any(name in request.headers for name in _OF_BROWSERS)
        return RejectionReason.BROWSER if changes else None
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    matches = scheme.lower() == "bearer" and hmac.compare_digest(credentials.strip().encode(), token.encode())
    return None if matches else RejectionReason.NO_TOKEN
