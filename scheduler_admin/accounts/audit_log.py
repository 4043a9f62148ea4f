"""The audit log as people read it: which events a list shows, and what each changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import AuditEvent, Membership, User
from scheduler_admin.accounts.verb_words import field_words, value_words, verb_words
from scheduler_admin.core.words import colon, listed

COLUMNS = ("id", "occurred_at", "actor", "verb", "target", "reason", "details")
_PAIRED = frozenset(
    {
        "channel.change",
        "cluster.limits",
        "configuration.set-namespace",
        "mapping.change",
        "site.change",
        "tenant.change",
        "user.change",
    }
)
"""Acts whose details hold, for each field that they changed, what it was and what it is."""
_PLAIN_LISTS = frozenset({"replaced"})
"""Fields of these that hold a list of names."""
_TWO = 2
_ROLES = dict([*User.Role.choices, *Membership.Role.choices])
_LINK_FIELDS = frozenset({"node_links", "pod_links", "support_links"})
_ROLE_FIELDS = frozenset({"role", "tenants", "members"})
_TIMES = frozenset({"expires_at", "until"})


@dataclass(frozen=True)
class AuditFilters:
    """Which events are shown; all that are given must hold."""

    text: str = ""
    """Anywhere in the object, the reason or the details."""
    actor: str = ""
    """A part of the name of whoever did it."""
    kind: str = ""
    """The kind of object: the part of an act before the dot."""
    verb: str = ""
    target: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def rows(self) -> QuerySet[AuditEvent]:
        """Return the events, in no order."""
        found, same = AuditEvent.objects.order_by(), {"verb": self.verb, "target": self.target}
        found = found.filter(**{field: value for field, value in same.items() if value})
        if self.actor:
            found = found.filter(actor_name__icontains=self.actor)
        if self.kind:
            found = found.filter(verb__startswith=f"{self.kind}.")
        if self.since:
            found = found.filter(at__gte=self.since)
        if self.until:
            found = found.filter(at__lt=self.until)
        if self.text:
            anywhere = Q(target__icontains=self.text) | Q(reason__icontains=self.text) | Q(said__icontains=self.text)
            found = found.annotate(said=Cast("details", TextField())).filter(anywhere)
        return found


@dataclass(frozen=True)
class Change:
    """One thing that an act changed, or says of what it was about."""

    name: str
    value: str
    """What it is from then on."""
    before: str = ""
    """What it was before."""
    paired: bool = False
    """Whether it is known what it was before."""


@dataclass(frozen=True)
class AuditLine:
    """An event, ready for the page."""

    event: AuditEvent
    words: str
    """What was done."""
    changes: list[Change]
    token: str
    """The first characters of the API token by which it was done; empty: by none."""


def audit_line(event: AuditEvent) -> AuditLine:
    """Return an event with what it changed, in words."""
    details = dict(event.details)
    token = str(details.pop("token", ""))
    return AuditLine(event, verb_words(event.verb), list(_changes(event.verb, details)), token)


def _changes(verb: str, details: dict[str, Any]) -> Iterator[Change]:
    """Yield what is paired first: that is what people look for."""
    pairs: dict[str, tuple[Any, Any]] = {}
    nested = details.pop("changes", None)
    if isinstance(nested, Mapping):
        pairs |= {name: (value[0], value[1]) for name, value in nested.items() if _is_pair(name, value)}
    before = details.pop("before", None)
    if before is not None:
        was = before if isinstance(before, Mapping) else dict.fromkeys(details, before)
        pairs |= {name: (was.get(name), details.pop(name)) for name in list(details) if name in was}
    if verb in _PAIRED:
        found = [name for name, value in details.items() if _is_pair(name, value)]
        pairs |= {name: tuple(details.pop(name)) for name in found}
    for name, (old, new) in pairs.items():
        yield Change(field_words(name), _text(name, new), _text(name, old), paired=True)
    for name, value in details.items():
        yield Change(field_words(name), _text(name, value))


def _is_pair(name: str, value: Any) -> bool:
    return isinstance(value, list) and len(value) == _TWO and name not in _PLAIN_LISTS


def _text(name: str, value: Any) -> str:
    """Return a value of the field ``name`` as people read it."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping):
        if name in _LINK_FIELDS:
            return f"{value['label']} {value['url']}"
        return listed(f"{key}{colon()}{_text(name, held)}" for key, held in value.items()) or "–"
    if isinstance(value, list):
        return listed(_text(name, each) for each in value) or "–"
    if value is None or value == "":
        return "–"
    return _words(name, str(value))


def _words(name: str, value: str) -> str:
    """Return a role by its name, a time to the minute, and any other text in words where it has them."""
    if name in _ROLE_FIELDS:
        return str(_ROLES.get(value, value))
    at = parse_datetime(value) if name in _TIMES else None
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else value_words(name, value)


def facts(event: AuditEvent) -> dict[str, Any]:
    """Return the values of an event in the order of COLUMNS, as the REST API calls them."""
    return {
        "id": event.pk,
        "occurred_at": event.at.isoformat(),
        "actor": event.actor_name,
        "verb": event.verb,
        "target": event.target,
        "reason": event.reason,
        "details": event.details,
    }
