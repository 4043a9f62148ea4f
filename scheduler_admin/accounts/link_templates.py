"""Links of the site to other places: whom tenants can ask, and pods and nodes in logs, dashboards and other tools.

Each link is stored as a label and a template of its address, in which names in braces stand for facts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from scheduler_admin.core import limits

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
StoredLinks = Iterable[Mapping[str, str]]


@dataclass(frozen=True)
class LinkRules:
    """What the templates of a list of links can contain."""

    placeholders: tuple[str, ...]
    schemes: tuple[str, ...] = ("https", "http")

    @property
    def known(self) -> str:
        """Return the placeholders as people type them."""
        return ", ".join(f"{{{name}}}" for name in self.placeholders)


SUPPORT = LinkRules(("cluster", "namespace", "pod", "queue", "link", "summary"), ("https", "http", "mailto"))
"""``link`` is the address of the pod's page, ``summary`` its summary as text."""
POD = LinkRules(("cluster", "namespace", "pod", "node", "queue", "application", "from", "to"))
"""``from`` and ``to`` are times in milliseconds since 1970, as Grafana takes them."""
NODE = LinkRules(("cluster", "node", "from", "to"))


@dataclass(frozen=True)
class FilledLink:
    """A link as a page shows it."""

    label: str
    url: str


def filled_links(stored: StoredLinks, facts: Mapping[str, str]) -> list[FilledLink]:
    """Return the links with the facts in their addresses, percent-encoded; what is not known is left empty."""

    def fact(found: re.Match[str]) -> str:
        return quote(facts.get(found[1], ""), safe="")

    return [FilledLink(one["label"], _PLACEHOLDER.sub(fact, one["url"])) for one in stored]


def complete_links(stored: StoredLinks, facts: Mapping[str, str]) -> list[FilledLink]:
    """Return the same without the links that need a fact that is not known: these would lead nowhere."""
    return filled_links([one for one in stored if all(map(facts.get, _PLACEHOLDER.findall(one["url"])))], facts)


def time_range(since: datetime, until: datetime) -> dict[str, str]:
    """Return a range of time as facts."""
    return {"from": str(round(since.timestamp() * 1000)), "to": str(round(until.timestamp() * 1000))}


def check_support_links(value: Any) -> None:
    """Raise ValidationError for a list that holds anything but links that can be about a pod, or mail addresses."""
    _check_links(value, SUPPORT)


def check_pod_links(value: Any) -> None:
    """Raise ValidationError for a list that holds anything but links that can be about a pod."""
    _check_links(value, POD)


def check_node_links(value: Any) -> None:
    """Raise ValidationError for a list that holds anything but links that can be about a node."""
    _check_links(value, NODE)


def _check_links(value: Any, rules: LinkRules) -> None:
    if not isinstance(value, list) or len(value) > limits.LINKS:
        raise ValidationError(_("Enter at most %(most)s links."), params={"most": limits.LINKS})
    for one in value:
        given = one if isinstance(one, dict) else {}
        _check_link(str(given.get("label", "")), str(given.get("url", "")), rules)


def _check_link(label: str, url: str, rules: LinkRules) -> None:
    params = {"label": label, "url": url, "known": rules.known}
    if not label.strip() or not url or len(label) > limits.LINK_LABEL or len(url) > limits.LINK_URL:
        raise ValidationError(_("Each link needs a label and an address: %(label)s %(url)s"), params=params)
    if unknown := [name for name in _PLACEHOLDER.findall(url) if name not in rules.placeholders]:
        message = _("The address of %(label)s has the unknown placeholder {%(name)s}. Known placeholders: %(known)s.")
        raise ValidationError(message, params={**params, "name": unknown[0]})
    if not _leads_somewhere(_PLACEHOLDER.sub("x", url), rules):
        message = (
            _("The address of %(label)s must start with https://, http:// or mailto: and contain no spaces.")
            if "mailto" in rules.schemes
            else _("The address of %(label)s must start with https:// or http:// and contain no spaces.")
        )
        raise ValidationError(message, params=params)


def _leads_somewhere(url: str, rules: LinkRules) -> bool:
    """Return whether an address has a scheme of the list, and a host unless it is of mail."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as a bracket that is not closed
        return False
    mail = parts.scheme == "mailto"
    return parts.scheme in rules.schemes and bool(parts.netloc or mail) and not re.search(r"\s", url)


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


def write_lines(stored: StoredLinks) -> str:
    """Return links as such a text."""
    return "\n".join(f"{one['label']} {one['url']}" for one in stored)
