"""The message that YuniKorn writes about a pod that it preempted, both on an Event and in a record of its REST API.

Source: yunikorn-core's pkg/scheduler/objects/events/ask_events.go, for the words. YuniKorn identifies a request or its
victim by its allocation key, which is the pod's uid (pkg/cache/task.go of yunikorn-k8shim).

    Preempted by <uid of the ask> from application <id> in <queue>
    Preempted by Quota change enforcement process in <queue>
"""

import re

import msgspec

from engine.model.objects import Preempted

_UID, _APPLICATION, _QUEUE = r"[-\w.]{1,64}", r"[-\w.:/@#]{1,300}", r"[-\w.:/@#]{1,500}"
"""Anybody may write an Event, so text that can't be a valid name is rejected."""
_FORM = re.compile(
    r"Preempted by (?:Quota change enforcement process"
    rf"|(?P<ask>{_UID}) from application (?P<application>{_APPLICATION})) in (?P<queue>{_QUEUE})",
    re.ASCII,
)


class PreemptionMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The pending pod for which a pod was preempted, or the queue whose quota was enforced."""

    ask_uid: str = ""
    """Uid of the pending pod; empty if the victim's queue was over its max."""
    application: str = ""
    queue: str
    """Queue of the pending pod, or the queue that was over its max."""


def to_preempted(message: PreemptionMessage, uid: str, namespace: str, name: str, at_ms: int) -> Preempted:
    """Return the preemption record of a victim, from the content of the message about it."""
    return Preempted(
        uid=uid,
        namespace=namespace,
        name=name,
        at_ms=at_ms,
        ask_uid=message.ask_uid,
        ask_application=message.application,
        ask_queue=message.queue if message.ask_uid else "",
        over_max="" if message.ask_uid else message.queue,
    )


def parse_message(message: str) -> PreemptionMessage | None:
    """Parse a message of YuniKorn; return None if it is not about a preemption."""
    form = _FORM.fullmatch(message.strip())
    if form is None:
        return None
    return PreemptionMessage(ask_uid=form["ask"] or "", application=form["application"] or "", queue=form["queue"])
