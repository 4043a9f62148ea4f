"""The document in a file, as it is sent."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from scheduler_admin_client.site import Trouble
from scheduler_admin_client.words import _


def read(file: Path) -> bytes:
    """Return what is in a file, or comes from the standard input. Raises Trouble."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": file, "why": error.strerror}) from error


def write(file: Path, text: str) -> None:
    """Write a text for another program. Raises Trouble."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Trouble(_("%(file)s cannot be written: %(why)s.") % {"file": file, "why": error.strerror}) from error


def headers(document: bytes) -> dict[str, str]:
    """Return what a request says of a document: what the API's own JSON is not is YAML, and Kueue's JSON is, too."""
    return {"Content-Type": "application/json" if _is_own_form(document) else "application/yaml"}


def digest(document: bytes) -> str:
    """Return what tells one document from another."""
    return hashlib.sha256(document).hexdigest()


def _is_own_form(document: bytes) -> bool:
    try:
        found = json.loads(document)
    except ValueError:
        return False
    return isinstance(found, dict) and "queues" in found
