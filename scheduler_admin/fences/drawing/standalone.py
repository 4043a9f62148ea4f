"""A map that is saved as a file: what stands around it, and the stylesheet's own rules for maps, in light colours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from django.contrib.staticfiles.finders import find

from scheduler_admin.core.words import exact
from scheduler_admin.fences.drawing.key import LINE, Entry, Placed, placed
from scheduler_admin.fences.drawing.shapes import Picture

STANDALONE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""For the file alone: it brings its style along, and runs nothing."""
_SECTION = re.compile(r"/\* Map -+ \*/\n(.*?)\n/\* ", re.DOTALL)
_TOKEN = re.compile(r"--([\w-]+):\s*(?:light-dark\((#\w+),[^)]*\)|([^;]+));")


@dataclass(frozen=True)
class Sheet:
    """The file around the map: two lines above it, the key below, in pixels. ``drawn``: when, in UTC."""

    width: int
    height: int
    key: list[Placed]
    key_y: int
    drawn: str
    margin: int = 16
    top: int = 68


def sheet(map_: Picture, entries: Sequence[Entry], now: datetime) -> Sheet:
    """The sheet that a map and its key need."""
    key = placed(entries, map_.width)
    key_y = Sheet.top + map_.height + 24
    end = key_y + (key[-1].y + LINE if key else 0)
    return Sheet(map_.width + 4 + 2 * Sheet.margin, end + Sheet.margin, key, key_y, exact(now))


@cache
def style() -> str:
    """The rules of the stylesheet's section Map with every token replaced by what it stands for in the light scheme."""
    sheet = Path(str(find("app.css"))).read_text(encoding="utf-8")
    section = _SECTION.search(sheet)
    assert section is not None
    # what stands first is the scheme's own: what follows is for those who want more contrast, or print
    tokens = {name: light or plain for name, light, plain in reversed(_TOKEN.findall(sheet))}
    return re.sub(r"var\(--([\w-]+)\)", lambda found: tokens[found[1]], section[1])
