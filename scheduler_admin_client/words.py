"""The language of the environment: the client's own words, and what it asks the API to answer in."""

from __future__ import annotations

import gettext
import os
import pkgutil
from collections.abc import Mapping
from io import BytesIO

DOMAIN = "scheduler_admin_client"
_SIMPLIFIED = ("zh-CN", "zh-SG", "zh")


def language(environment: Mapping[str, str]) -> str:
    """What the environment asks for, as Accept-Language has it: ``zh-CN``. Empty: nothing in particular."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if said := environment.get(name):
            tag = said.partition(".")[0].partition("@")[0].replace("_", "-")
            return "" if tag in {"C", "POSIX"} else tag
    return ""


def catalogue(tag: str) -> gettext.NullTranslations:
    """Return the words in a language, from the package itself, which may lie in a zip; in English where there are none.

    Python's own search for catalogues looks in folders alone.
    """
    folder = "zh_Hans" if tag in _SIMPLIFIED else tag
    try:
        found = pkgutil.get_data("scheduler_admin_client", f"locale/{folder}/LC_MESSAGES/{DOMAIN}.mo")
    except OSError:
        found = None
    return gettext.GNUTranslations(BytesIO(found)) if found else gettext.NullTranslations()


LANGUAGE = language(os.environ)
_translation = catalogue(LANGUAGE)
_, ngettext = _translation.gettext, _translation.ngettext
