"""Documents of which somebody sees a preview: kept for an hour, each for whoever sent it, and then forgotten."""

import logging
import zlib
from hashlib import sha256

from django.core.cache import caches
from redis import RedisError

from engine.formats.registry import LARGEST
from scheduler_admin.accounts.models import User

_log = logging.getLogger(__name__)
_KEPT_S = 3600


class TextSerializer:
    """Stores texts, compressed: Django's own serializer would unpickle, and so run, what it reads in the cache."""

    def dumps(self, text: str) -> bytes:
        """Return the bytes of a text."""
        return zlib.compress(text.encode(errors="replace"), level=1)

    def loads(self, data: bytes) -> str:
        """Return the text of some bytes; as much of it as a document may have."""
        return zlib.decompressobj().decompress(data, 2 * LARGEST).decode(errors="replace")


def keep_document(user: User, text: str, form: str) -> str:
    """Keep a document, with the format that it is to be read as, and return its key; empty if it can't be kept."""
    key = sha256(f"{form}\n{text}".encode(errors="replace")).hexdigest()
    try:
        caches["documents"].set(_place(user, key), f"{form}\n{text}", _KEPT_S)
    except (RedisError, OSError):
        _log.warning("The cache does not respond, so the document of a preview was not kept")
        return ""
    return key


def kept_document(user: User, key: str) -> tuple[str, str] | None:
    """Return the text of a document and its format; None if it was kept for nobody, for somebody else, or too long."""
    try:
        found = caches["documents"].get(_place(user, key[:64]))
    except (RedisError, OSError):
        return None
    if found is None:
        return None
    form, _line_end, text = found.partition("\n")
    return text, form


def _place(user: User, key: str) -> str:
    return f"document:{user.pk}:{sha256(key.encode(errors='replace')).hexdigest()}"
