"""The hint at each of a cluster's limits, in the order of the form. Their names are in accounts.verb_words."""

from django.utils.translation import gettext_noop

HINTS: dict[str, str] = {
    "evictions_per_pass": gettext_noop("across all decisions"),
    "evictions_per_minute": gettext_noop("in any minute, in the whole cluster"),
    "evictions_per_queue": gettext_noop("per leaf queue, in any minute"),
    "evictions_per_namespace": gettext_noop("in any minute"),
    "evictions_per_node": gettext_noop("in any minute"),
    "reserved_nodes": gettext_noop("at the same time"),
    "min_run_s": gettext_noop("seconds; pods that have run for less time are never preempted"),
    "bind_margin_s": gettext_noop("seconds, after the victims’ longest grace period"),
    "room_kept_by": "",
    "publish": gettext_noop("an Event on the pending pod says what would make room for it"),
    "yunikorn_service": gettext_noop(
        "queried for events and queues; for example yunikorn/yunikorn-service:9080; empty: not queried"
    ),
    "group_scheduling": gettext_noop("used only if the cluster does not show it"),
    "protected_namespaces": gettext_noop("pods in these namespaces are never preempted"),
    "enforce_queues": gettext_noop(
        "including all queues below them; elsewhere, evictions are only advised; empty: no restriction"
    ),
    "enforce_namespaces": gettext_noop(
        "the pending pod and every victim must be in one of these namespaces or in one of the queues"
    ),
}
"""Limit -> its hint, which may be empty."""
