"""The language of the environment: the client's own words, and what it asks the API to answer in."""

import gettext
import os
from collections.abc import Mapping
from pathlib import Path

_CATALOGUES = Path(__file__).resolve().parents[1] / "locale"
_SIMPLIFIED = ("zh-CN", "zh-SG", "zh")


def language(environment: Mapping[str, str]) -> str:
    """What the environment asks for, as Accept-Language has it: ``zh-CN``. Empty: nothing in particular."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if said := environment.get(name):
            tag = said.partition(".")[0].partition("@")[0].replace("_", "-")
            return "" if tag in {"C", "POSIX"} else tag
    return ""


LANGUAGE = language(os.environ)
_translation = gettext.translation(
    "django", _CATALOGUES, ["zh_Hans" if LANGUAGE in _SIMPLIFIED else LANGUAGE], fallback=True
)
_, ngettext = _translation.gettext, _translation.ngettext
