"""What a cluster's limits are called, and the hint at each."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

LABELS: dict[str, tuple[str, str]] = {
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
"""Limit -> its label, and its hint, which may be empty."""


def label_of(name: str) -> str:
    """Return what a limit is called."""
    return _(LABELS[name][0])
