"""What the page of a cluster's settings shows, put together from the database."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.dates import WEEKDAYS_ABBR

from engine.model.decision import Interlock
from scheduler_admin.accounts.audit_log import AuditLine, audit_line
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.forms.pauses import PauseForm, PlaceForm
from scheduler_admin.clusters.forms.settings import LimitsForm, ModeForm, RemoveWindowForm, WindowForm
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.clusters.pages.group_scheduling import group_scheduling_sentences
from scheduler_admin.clusters.pages.yunikorn import yunikorn_section
from scheduler_admin.clusters.safeguards.holds import holds_of
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.stops import open_windows
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core.forms import Form
from scheduler_admin.core.words import listed
from scheduler_admin.queues.models import Queue
from scheduler_admin.queues.selectors.tree_filters import suggested

CHANGES = 10
"""The latest that are shown."""
_CHANGED = frozenset(
    {
        "breaker.close",
        "breaker.open",
        "class.change",
        "class.create",
        "class.delete",
        "cluster.limits",
        "cluster.mode",
        "cluster.pause",
        "cluster.readable",
        "cluster.resume",
        "cluster.unreadable",
        "window.add",
        "window.remove",
    }
)


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

    line: AuditLine
    place: str
    """The queue that it was about, empty if it was about the whole cluster."""


def settings_page(user: Who, cluster: Cluster, now: datetime, refused: Form | None = None) -> dict[str, Any]:
    """The context of the page; ``refused`` is a form that was turned away, and shows why."""
    revision = cluster.hierarchy.current_id if cluster.hierarchy else None
    here = Q(cluster=cluster) | Q(cluster=None)
    queues = list(Queue.objects.filter(revision=revision).values_list("path", flat=True))
    may_configure = scope_of(user, "configure").everything
    return {
        "forms": _forms(cluster, queues, may_configure, refused),
        "removal": RemoveWindowForm(),
        "pauses": Pause.objects.filter(here).exclude(until__lte=now).select_related("cluster"),
        "windows": _windows(list(Window.objects.filter(here).select_related("cluster")), now),
        "appeared": next(
            (one.reason for one in holds_of(status_of(cluster)) if one.interlock is Interlock.OTHER_SCHEDULER), ""
        ),
        "changes": _changes(cluster),
        "yunikorn": yunikorn_section(cluster),
        "group_scheduling": group_scheduling_sentences(cluster),
        "may_operate": scope_of(user, "operate").everything,
        "may_configure": may_configure,
    }


def _forms(cluster: Cluster, queues: list[str], editable: bool, refused: Form | None) -> dict[str, Form]:
    """The forms of the page by their keys: empty ones, but for the one that was turned away."""
    found: dict[str, Form] = {
        "mode": ModeForm(initial={"mode": cluster.mode}),
        "pause": PauseForm(),
        "window": WindowForm(),
        "limits": LimitsForm(cluster=cluster, editable=editable),
    }
    if refused is not None:
        found[refused.key or "limits"] = refused
    for form in found.values():
        if isinstance(form, PlaceForm):
            form.offer_places(cluster, queues, suggested(queues))
    return found


def day_name(day: str) -> str:
    """``Mon``, in the reader's language."""
    return str(WEEKDAYS_ABBR[WEEKDAYS.index(day)])


def _windows(windows: list[Window], now: datetime) -> list[WindowLine]:
    until = {window.pk: end for kind in Window.Kind for window, end in open_windows(windows, kind, now)}
    return [
        WindowLine(window, listed(day_name(day) for day in window.weekdays), until.get(window.pk)) for window in windows
    ]


def _changes(cluster: Cluster) -> list[Change]:
    about = Q(target=cluster.name) | Q(target__startswith=f"{cluster.name} ") | Q(target="*")
    events = AuditEvent.objects.filter(about, verb__in=_CHANGED)[:CHANGES]
    return [Change(audit_line(event), event.target.partition(" ")[2]) for event in events]
