"""What YuniKorn says of a pod that it preempted, on an Event as in a record of its REST interface.

Source: yunikorn-core's pkg/scheduler/objects/events/ask_events.go, for the words; what it calls a request or its
victim by (the allocation key) is the pod's uid, as yunikorn-k8shim's pkg/cache/task.go makes it.

    Preempted by <uid of the ask> from application <id> in <queue>
    Preempted by Quota change enforcement process in <queue>
"""

import re

import msgspec

from engine.model.objects import Preempted

_UID, _APPLICATION, _QUEUE = r"[-\w.]{1,64}", r"[-\w.:/@#]{1,300}", r"[-\w.:/@#]{1,500}"
"""Anybody may write an Event: what could name nothing is kept out here."""
_FORM = re.compile(
    r"Preempted by (?:Quota change enforcement process"
    rf"|(?P<ask>{_UID}) from application (?P<application>{_APPLICATION})) in (?P<queue>{_QUEUE})",
    re.ASCII,
)


class PreemptedFor(msgspec.Struct, frozen=True, kw_only=True):
    """For whom a pod went."""

    ask_uid: str = ""
    """Empty: for nobody, but as its queue was over its max."""
    application: str = ""
    queue: str
    """The ask's, or the one that was over its max."""


def to_preempted(told: PreemptedFor, uid: str, namespace: str, name: str, at_ms: int) -> Preempted:
    """The same of the victim that it was said of."""
    return Preempted(
        uid=uid,
        namespace=namespace,
        name=name,
        at_ms=at_ms,
        ask_uid=told.ask_uid,
        ask_application=told.application,
        ask_queue=told.queue if told.ask_uid else "",
        over_max="" if told.ask_uid else told.queue,
    )


def told(message: str) -> PreemptedFor | None:
    """What a message of YuniKorn's says; None for one about something else."""
    form = _FORM.fullmatch(message.strip())
    if form is None:
        return None
    return PreemptedFor(ask_uid=form["ask"] or "", application=form["application"] or "", queue=form["queue"])
