"""What the page of a cluster's settings shows, put together from the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.model.decision import Interlock
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.clusters.pages.yunikorn import yunikorn_section
from scheduler_admin.clusters.safeguards.holds import holds_of
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.limits import limits_of
from scheduler_admin.clusters.safeguards.stops import open_windows
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.queues.models import Queue

CHANGES = 10
"""The latest that are shown."""
_LABELS: dict[str, tuple[str, str]] = {
    "evictions_per_pass": (gettext_noop("Evictions in a pass"), gettext_noop("of all decisions together")),
    "evictions_per_minute": (
        gettext_noop("Evictions in a minute"),
        gettext_noop("in any minute, of the whole cluster"),
    ),
    "evictions_per_queue": (gettext_noop("… of one queue"), gettext_noop("of a leaf, in any minute")),
    "evictions_per_namespace": (gettext_noop("… of one namespace"), gettext_noop("in any minute")),
    "evictions_per_node": (gettext_noop("… of one node"), gettext_noop("in any minute")),
    "reserved_nodes": (gettext_noop("Nodes kept for asks"), gettext_noop("at the same time")),
    "min_run_s": (
        gettext_noop("Minimum run time"),
        gettext_noop("seconds; pods that have run for less are never victims"),
    ),
    "bind_margin_s": (
        gettext_noop("Wait for the ask"),
        gettext_noop("seconds, beyond the victims’ longest grace period"),
    ),
    "room_kept_by": (gettext_noop("How freed room is kept"), ""),
    "publish": (
        gettext_noop("In advise, tell asks"),
        gettext_noop("an Event on the pod says what would make room for it"),
    ),
    "yunikorn_service": (
        gettext_noop("YuniKorn’s own service"),
        gettext_noop("asked for its events and queues, written as yunikorn/yunikorn-service:9080; empty: not asked"),
    ),
    "protected_namespaces": (gettext_noop("Protected namespaces"), gettext_noop("no pod of theirs is ever a victim")),
    "enforce_queues": (
        gettext_noop("Enforce only in queues"),
        gettext_noop("with all queues below them; everywhere else evictions are only advised; empty: anywhere"),
    ),
    "enforce_namespaces": (
        gettext_noop("… and in namespaces"),
        gettext_noop("the pending pod and every victim have to be in one of these, or in one of the queues"),
    ),
}
_CHANGED = {
    "cluster.mode": gettext_noop("mode"),
    "cluster.limits": gettext_noop("limits"),
    "cluster.pause": gettext_noop("paused"),
    "cluster.resume": gettext_noop("resumed"),
    "window.add": gettext_noop("window added"),
    "window.remove": gettext_noop("window removed"),
    "breaker.open": gettext_noop("breaker opened"),
    "breaker.close": gettext_noop("breaker closed"),
    "class.create": gettext_noop("priority class made"),
    "class.change": gettext_noop("priority class changed"),
    "class.delete": gettext_noop("priority class deleted"),
    "cluster.unreadable": gettext_noop("could not be read"),
    "cluster.readable": gettext_noop("could be read again"),
}


@dataclass(frozen=True)
class Limit:
    """One field of the form."""

    name: str
    label: str
    hint: str
    seen: str
    """As it is now."""
    typed: str
    wrong: str
    choices: list[tuple[str, str]]
    """Empty: any text."""


@dataclass(frozen=True)
class WindowLine:
    """A window with whether it is open."""

    window: Window
    days: str
    until: datetime | None
    """When it ends, if it is open."""


@dataclass(frozen=True)
class Change:
    """What was done to the cluster's settings, by whom or what, and why."""

    event: AuditEvent
    what: str
    how: str


def settings_page(
    user: Who,
    cluster: Cluster,
    now: datetime,
    *,
    typed: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The context of the page; ``typed`` and ``wrong``, by field, tell of a form that was turned away."""
    revision = cluster.hierarchy.current_id if cluster.hierarchy else None
    here = Q(cluster=cluster) | Q(cluster=None)
    return {
        "limits": _limits(cluster, typed or {}, wrong or {}),
        "pauses": Pause.objects.filter(here).exclude(until__lte=now).select_related("cluster"),
        "windows": _windows(list(Window.objects.filter(here).select_related("cluster")), now),
        "queues": Queue.objects.filter(revision=revision).values_list("path", flat=True),
        "weekdays": [(day, day_name(day)) for day in WEEKDAYS],
        "modes": Cluster.Mode.choices,
        "appeared": next((one.reason for one in holds_of(status_of(cluster)) if one.interlock is Interlock.RIVAL), ""),
        "changes": _changes(cluster),
        "yunikorn": yunikorn_section(cluster),
        "may_operate": scope_of(user, "operate").everything,
        "may_configure": scope_of(user, "configure").everything,
    }


def day_name(day: str) -> str:
    """``Mon``, in the reader's language."""
    return str(WEEKDAYS_ABBR[WEEKDAYS.index(day)])


def label_of(name: str) -> str:
    """What a limit is called."""
    return _(_LABELS[name][0])


def text_of(value: Any) -> str:
    """A limit as a form has it."""
    return " ".join(value) if isinstance(value, list) else str(value)


def _limits(cluster: Cluster, typed: Mapping[str, str], wrong: Mapping[str, str]) -> list[Limit]:
    found = []
    for name, value in limits_of(cluster).items():
        hint, seen = _LABELS[name][1], text_of(value)
        hint = _(hint) if hint else ""
        found.append(
            Limit(name, label_of(name), hint, seen, typed.get(name, seen), wrong.get(name, ""), _choices(name))
        )
    return found


def _choices(name: str) -> list[tuple[str, str]]:
    """Value -> label, of what is chosen rather than typed."""
    if name == "room_kept_by":
        return [(str(value), str(label)) for value, label in Cluster.KeptBy.choices]
    return [("False", _("no")), ("True", _("yes"))] if name == "publish" else []


def _windows(windows: list[Window], now: datetime) -> list[WindowLine]:
    until = {window.pk: end for kind in Window.Kind for window, end in open_windows(windows, kind, now)}
    return [
        WindowLine(window, ", ".join(day_name(day) for day in window.weekdays), until.get(window.pk))
        for window in windows
    ]


def _changes(cluster: Cluster) -> list[Change]:
    about = Q(target=cluster.name) | Q(target__startswith=f"{cluster.name} ") | Q(target="*")
    events = AuditEvent.objects.filter(about, verb__in=_CHANGED)[:CHANGES]
    return [Change(event, _(_CHANGED[event.verb]), _how(event)) for event in events]


def _how(event: AuditEvent) -> str:
    if event.verb == "cluster.limits":
        found = {name: change for name, change in event.details.items() if name in _LABELS}
        return ", ".join(f"{label_of(name)}: {text_of(was)} → {text_of(now)}" for name, (was, now) in found.items())
    details = {name: value for name, value in event.details.items() if name != "token"}
    if changes := details.pop("changes", None):  # of a priority class: its texts may be long
        details["fields"] = ", ".join(sorted(changes))  # which not every database keeps in their order
    place = event.target.partition(" ")[2]
    return ", ".join([*([place] if place else []), *(str(value) for value in details.values())])
