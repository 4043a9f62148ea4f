"""Whom tenants can ask: a contact and links, whose addresses can name the pod that a question is about."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from scheduler_admin.core import limits

PLACEHOLDERS = ("cluster", "namespace", "pod", "queue", "link", "summary")
"""What an address can hold in braces. ``link`` is the address of the pod's page, ``summary`` its summary as text."""
SCHEMES = ("https", "http", "mailto")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class SupportLink:
    """A link as a page shows it."""

    label: str
    url: str


def filled_links(stored: Iterable[Mapping[str, str]], facts: Mapping[str, str]) -> list[SupportLink]:
    """Return the links of the site with the facts about a pod in their addresses, percent-encoded."""

    def fact(found: re.Match[str]) -> str:
        return quote(facts.get(found[1], ""), safe="")

    return [SupportLink(one["label"], _PLACEHOLDER.sub(fact, one["url"])) for one in stored]


def check_links(value: Any) -> None:
    """Raise ValidationError for a list that holds anything but links with a label and an address of a known scheme."""
    if not isinstance(value, list) or len(value) > limits.SUPPORT_LINKS:
        raise ValidationError(_("Enter at most %(most)s links."), params={"most": limits.SUPPORT_LINKS})
    for one in value:
        _check_link(one["label"], one["url"])


def _check_link(label: str, url: str) -> None:
    params = {"label": label, "url": url}
    if not label.strip() or len(label) > limits.SUPPORT_LABEL or len(url) > limits.SUPPORT_URL:
        raise ValidationError(_("Each link needs a label and an address: %(label)s %(url)s"), params=params)
    if unknown := [name for name in _PLACEHOLDER.findall(url) if name not in PLACEHOLDERS]:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        message = _("The address of %(label)s has the unknown placeholder {%(name)s}. Known placeholders: %(known)s.")
        raise ValidationError(message, params={**params, "name": unknown[0], "known": known})
    plain = urlsplit(_PLACEHOLDER.sub("x", url))
    if plain.scheme not in SCHEMES or not (plain.netloc or plain.scheme == "mailto") or re.search(r"\s", url):
        message = _("The address of %(label)s must start with https://, http:// or mailto: and contain no spaces.")
        raise ValidationError(message, params=params)


def read_lines(text: str) -> list[dict[str, str]]:
    """Return the links of a text with one in a line: the label, then the address. Raises ValidationError."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        label, _blank, url = line.rpartition(" ")
        if not label:
            params = {"label": label, "url": url}
            raise ValidationError(_("Each link needs a label and an address: %(label)s %(url)s"), params=params)
        found.append({"label": label.strip(), "url": url})
    return found


def write_lines(stored: Iterable[Mapping[str, str]]) -> str:
    """Return links as such a text."""
    return "\n".join(f"{one['label']} {one['url']}" for one in stored)
