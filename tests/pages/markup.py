"""HTML without the whitespace that a browser does not show."""

import re

_BLOCK = re.compile(r" ?(</?(?:button|dd|div|dt|h\d|li|p|td|th|tr)\b[^>]*>) ?")


def squeezed(html: str) -> str:
    """Return it with one blank in place of whitespace, and none where a block begins or ends."""
    return _BLOCK.sub(r"\1", " ".join(html.split()))
