"""Reads when a certificate or a token expires, without verifying anything else of it."""

import json
from base64 import urlsafe_b64decode
from datetime import UTC, datetime

from cryptography import x509

_PARTS_OF_A_JWT = 3


def certificate_end(pem: str) -> datetime | None:
    """Return when the first certificate of a PEM text expires; None where there is none."""
    try:
        return x509.load_pem_x509_certificate(pem.encode()).not_valid_after_utc
    except ValueError:
        return None


def token_end(token: str) -> datetime | None:
    """Return when a token expires, if it is a JWT with an expiry."""
    parts = token.split(".")
    if len(parts) != _PARTS_OF_A_JWT:
        return None
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return None
