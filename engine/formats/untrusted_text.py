"""Texts that anybody may have written into a cluster, as far as they are kept."""


def kept_text(text: str | None, longest: int) -> str:
    """Return the beginning of a text, at most ``longest`` characters of it, without NUL: no database takes that one."""
    return (text or "").replace("\0", "")[:longest]
