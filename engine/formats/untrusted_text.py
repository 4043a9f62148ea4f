"""Truncation of texts that any user of a cluster may have written."""


def kept_text(text: str | None, longest: int) -> str:
    """Return at most the first ``longest`` characters of a text, without NUL characters, which no database accepts."""
    return (text or "").replace("\0", "")[:longest]
