"""Who is let in: who sends the token; without one everybody, but for what a page makes a browser send."""

import hmac
from enum import Enum

from aiohttp import web

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OF_BROWSERS = ("Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode")
"""Headers that a browser adds to what a page makes it send, and that a page can't take away."""


class Refused(Enum):
    """Why somebody is not let in."""

    NO_TOKEN = "no token"  # noqa: S105
    BROWSER = "a browser"


def refused(request: web.Request, token: str | None) -> Refused | None:
    """Return why a request is not let in; None: it is.

    ``token`` is the simulator's. Without one a page of any site could change what runs on its reader's own machine.
    """
    if token is None:
        changes = request.method not in _READS and any(name in request.headers for name in _OF_BROWSERS)
        return Refused.BROWSER if changes else None
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    good = scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
    return None if good else Refused.NO_TOKEN
