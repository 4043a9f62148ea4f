"""The public keys of issuers of ID tokens: asked for, remembered for a while, and never asked for too often."""

import json
from collections.abc import Callable
from time import time
from typing import Any, NamedTuple

import jwt
from django.conf import settings
from django.core.cache import cache
from django.utils.translation import gettext as _

from scheduler_admin.core.entity_tags import keyed
from scheduler_admin.core.outbound.address_guard import RefusedError
from scheduler_admin.core.outbound.exchange import UnreachedError, exchange

DISCOVERY = "/.well-known/openid-configuration"
REMEMBERED_S = 600
"""So long a key goes on being good here after its issuer withdrew it."""
AGAIN_S = 30
"""Least time between two requests to an issuer: for a key that was not among its keys, or after a failure."""
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 100
_OK = 200


class IssuerError(Exception):
    """An issuer's keys cannot be read. ``str()`` of it is a sentence."""


class _Known(NamedTuple):
    """What an issuer answered when it was last asked."""

    asked_at: float
    keys: list[dict[str, Any]]
    trouble: str


def key_of(issuer: str, header: dict[str, Any], before_asking: Callable[[], None]) -> jwt.PyJWK | None:
    """Return the issuer's key for the header of a token; None where it has none such.

    ``before_asking`` may raise, and so keep the issuer from being asked. Raises IssuerError.
    """
    name = f"issuer-keys:{keyed(issuer)}"
    kept = cache.get(name)
    known = _Known(*kept) if kept else None
    found = _find(known, header)
    if found is None and (known is None or time() - known.asked_at >= AGAIN_S):
        before_asking()
        known = _ask(issuer)
        cache.set(name, tuple(known), AGAIN_S if known.trouble else REMEMBERED_S)
        found = _find(known, header)
    if found is None and known is not None and known.trouble:
        raise IssuerError(known.trouble)
    return found


def _find(known: _Known | None, header: dict[str, Any]) -> jwt.PyJWK | None:
    """Return the key that has the id of the header, and is for its algorithm."""
    for key in known.keys if known else ():
        named = key.get("kid") == header.get("kid")
        if named and key.get("alg", header["alg"]) == header["alg"] and key.get("use", "sig") == "sig":
            try:
                return jwt.PyJWK(key, header["alg"])
            except (jwt.PyJWTError, ValueError, TypeError):
                continue
    return None


def _ask(issuer: str) -> _Known:
    try:
        about = _read(issuer.rstrip("/") + DISCOVERY)
        if about.get("issuer") != issuer:
            return _Known(time(), [], _("The issuer calls itself something else in its configuration."))
        found = _read(str(about.get("jwks_uri")))["keys"]
        keys = [key for key in found if isinstance(key, dict)][:_MOST_KEYS]
    except (RefusedError, UnreachedError, IssuerError) as error:
        return _Known(time(), [], str(error))
    except (ValueError, KeyError, TypeError):
        return _Known(time(), [], _("The issuer did not respond as OpenID Connect defines it."))
    return _Known(time(), keys, "")


def _read(address: str) -> dict[str, Any]:
    """Return the object at an address. Raises RefusedError, UnreachedError, IssuerError, ValueError."""
    headers = {"Accept": "application/json", "Connection": "close"}
    reply = exchange("GET", address, headers=headers, allowed=settings.ISSUER_NETWORKS, most_bytes=_MOST_BYTES)
    if reply.status != _OK:
        raise IssuerError(_("%(host)s responded with %(code)s.") % {"host": reply.host, "code": str(reply.status)})
    found = json.loads(reply.body)
    if not isinstance(found, dict):
        raise TypeError(type(found))
    return found
