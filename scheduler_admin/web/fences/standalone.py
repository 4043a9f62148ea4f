"""The style of a map that is saved as a file: the stylesheet's own rules for maps, in its light colours."""

import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles.finders import find

STANDALONE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""For the file alone: it brings its style along, and runs nothing."""
_SECTION = re.compile(r"/\* Map -+ \*/\n(.*?)\n/\* ", re.DOTALL)
_TOKEN = re.compile(r"--([\w-]+):\s*(?:light-dark\((#\w+),[^)]*\)|([^;]+));")


@cache
def style() -> str:
    """The rules of the stylesheet's section Map with every token replaced by what it stands for in the light scheme."""
    sheet = Path(str(find("app.css"))).read_text(encoding="utf-8")
    section = _SECTION.search(sheet)
    assert section is not None
    tokens = {name: light or plain for name, light, plain in _TOKEN.findall(sheet)}
    return re.sub(r"var\(--([\w-]+)\)", lambda found: tokens[found[1]], section[1])
