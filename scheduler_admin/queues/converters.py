"""How addresses name a draft: by its key, or, while it is only looked at, as one on a revision."""


class DraftConverter:
    """The key of a draft, ``7``; ``new-12`` for one on revision 12 that nobody has changed yet, whose key is -12."""

    regex = r"new-[1-9][0-9]{0,8}|[0-9]+"

    def to_python(self, value: str) -> int:
        """Return the key."""
        return -int(value.removeprefix("new-")) if value.startswith("new-") else int(value)

    def to_url(self, value: int | str) -> str:
        """Return how an address says it."""
        key = int(value)
        return str(key) if key >= 0 else f"new-{-key}"
