"""Events that tell of a preemption, as kube-scheduler and schedulers made of its parts write them.

Source: kube-scheduler's preemption executor and its predecessors. The pod that went is the involved object, the one
that it went for is ``related``, and the message takes one of these forms:

    Preempted by <namespace>/<name> on node <node>    up to 1.22, and forks of it
    Preempted by a pod on node <node>                 up to 1.26
    Preempted by pod <uid> on node <node>             since
    Preempted by podgroup <uid> on node <node>        for several pods at once; also compositepodgroup
"""

import re

from engine.formats.kubernetes_convert import to_ms
from engine.formats.kubernetes_wire import EventObject, ObjectReference
from engine.snapshot import Preempted

_FORM = re.compile(
    r"Preempted by (?:(?P<kind>pod|podgroup|compositepodgroup) (?P<uid>\S+)"
    r"|(?P<namespace>[^\s/]+)/(?P<name>[^\s/]+)|a pod) on node (?P<node>\S+)"
)
_GROUPS = {"podgroup": "PodGroup", "compositepodgroup": "CompositePodGroup"}


def to_preempted(event: EventObject) -> Preempted:
    """What the Event tells. Raises ValueError when it does not say which pod, or when.

    Others use the same reason (we do, so does Kueue): one that is not in kube-scheduler's form is not ``by_scheduler``.
    """
    victim, related = event.involved_object, event.related or ObjectReference()
    if not victim.uid or not victim.name:
        raise ValueError("it does not say which pod was preempted")
    form = _FORM.fullmatch((event.message or "").strip())
    told = form.groupdict(default="") if form else {}
    return Preempted(
        uid=victim.uid,
        namespace=victim.namespace or "default",
        name=victim.name,
        at_ms=_at_ms(event),
        node=told.get("node", ""),
        by_scheduler=form is not None and victim.kind == "Pod",
        ask_uid=related.uid or told.get("uid", ""),
        ask_namespace=related.namespace or told.get("namespace", ""),
        ask_name=related.name or told.get("name", ""),
        ask_kind=related.kind or _GROUPS.get(told.get("kind", ""), "Pod"),
    )


def _at_ms(event: EventObject) -> int:
    """When it happened first: an Event that comes again keeps that time."""
    at = event.event_time or event.first_timestamp or event.metadata.creation_timestamp
    if at is None:
        raise ValueError("it does not say when")
    return to_ms(at)
