"""What a cluster's limits are called, and the hint at each."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

LABELS: dict[str, tuple[str, str]] = {
    "evictions_per_pass": (gettext_noop("Evictions per pass"), gettext_noop("across all decisions")),
    "evictions_per_minute": (
        gettext_noop("Evictions per minute"),
        gettext_noop("in any minute, in the whole cluster"),
    ),
    "evictions_per_queue": (
        gettext_noop("Evictions per minute and queue"),
        gettext_noop("per leaf queue, in any minute"),
    ),
    "evictions_per_namespace": (gettext_noop("Evictions per minute and namespace"), gettext_noop("in any minute")),
    "evictions_per_node": (gettext_noop("Evictions per minute and node"), gettext_noop("in any minute")),
    "reserved_nodes": (gettext_noop("Reserved nodes"), gettext_noop("at the same time")),
    "min_run_s": (
        gettext_noop("Minimum run time"),
        gettext_noop("seconds; pods that have run for less time are never preempted"),
    ),
    "bind_margin_s": (
        gettext_noop("Wait for the pending pod"),
        gettext_noop("seconds, after the victims’ longest grace period"),
    ),
    "room_kept_by": (gettext_noop("Reservation of freed capacity"), ""),
    "publish": (
        gettext_noop("Write Events in Advise mode"),
        gettext_noop("an Event on the pending pod says what would make room for it"),
    ),
    "yunikorn_service": (
        gettext_noop("YuniKorn service"),
        gettext_noop("queried for events and queues; for example yunikorn/yunikorn-service:9080; empty: not queried"),
    ),
    "protected_namespaces": (
        gettext_noop("Protected namespaces"),
        gettext_noop("pods in these namespaces are never preempted"),
    ),
    "enforce_queues": (
        gettext_noop("Enforce only in queues"),
        gettext_noop("including all queues below them; elsewhere, evictions are only advised; empty: no restriction"),
    ),
    "enforce_namespaces": (
        gettext_noop("Enforce only in namespaces"),
        gettext_noop("the pending pod and every victim must be in one of these namespaces or in one of the queues"),
    ),
}
"""Limit -> its label, and its hint, which may be empty."""


def label_of(name: str) -> str:
    """Return what a limit is called."""
    return _(LABELS[name][0])
