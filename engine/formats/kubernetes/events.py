"""Conversion of Events about a preemption, as kube-scheduler, schedulers built from it, and YuniKorn write them.

Source: kube-scheduler's preemption executor and its predecessors. The preempted pod is the involved object, the
preemptor is ``related``, and the message has one of these forms:

    Preempted by <namespace>/<name> on node <node>    up to 1.22, and forks of it
    Preempted by a pod on node <node>                 up to 1.26
    Preempted by pod <uid> on node <node>             since
    Preempted by podgroup <uid> on node <node>        for several pods at once; also compositepodgroup

YuniKorn uses other messages, see yunikorn.preemption_message. Its Events (PublishEvents in yunikorn-k8shim's
pkg/cache/context.go) always have the reason ``Informational``, whatever they are about, and no ``related`` object.
Volcano's Events, see volcano.eviction_message, have the reason ``Evict``.
"""

import re

from engine.formats.kubernetes.convert import to_ms
from engine.formats.kubernetes.wire import EventObject, ObjectReference
from engine.formats.volcano.eviction_message import parse_eviction_reason as told_by_volcano
from engine.formats.yunikorn.preemption_message import parse_message as told_by_yunikorn
from engine.formats.yunikorn.preemption_message import to_preempted as by_yunikorn
from engine.model.objects import Preempted

_UID, _NAMESPACE, _NAME = r"[-\w.]{1,64}", r"[-\w]{1,63}", r"[-\w.]{1,253}"
"""Anybody may write an Event, and the API server checks little of it, so text that can't be a valid name is rejected.
"""
_FORM = re.compile(
    rf"Preempted by (?:(?P<kind>pod|podgroup|compositepodgroup) (?P<uid>{_UID})"
    rf"|(?P<namespace>{_NAMESPACE})/(?P<name>{_NAME})|a pod) on node (?P<node>{_NAME})",
    re.ASCII,
)
_FIRST_YEAR, _LAST_YEAR = 1970, 9000
_GROUPS = {"podgroup": "PodGroup", "compositepodgroup": "CompositePodGroup"}


def to_preempted(event: EventObject) -> Preempted:
    """Convert an Event about a preemption. Raise ValueError if the pod or the time is missing or invalid.

    Other components use the same reason, among them this product and Kueue: an Event whose message is not in
    kube-scheduler's form is not ``by_scheduler``.
    """
    victim, related = event.involved_object, event.related or ObjectReference()
    uid, name = _named(victim)
    _check(related)
    form = _FORM.fullmatch((event.message or "").strip())
    parts = form.groupdict(default="") if form else {}
    return Preempted(
        uid=uid,
        namespace=victim.namespace or "default",
        name=name,
        at_ms=_at_ms(event),
        node=parts.get("node", ""),
        by_scheduler=form is not None and victim.kind == "Pod",
        ask_uid=related.uid or parts.get("uid", ""),
        ask_namespace=related.namespace or parts.get("namespace", ""),
        ask_name=related.name or parts.get("name", ""),
        ask_kind=related.kind or _GROUPS.get(parts.get("kind", ""), "Pod"),
    )


def to_preempted_by_yunikorn(event: EventObject) -> Preempted | None:
    """Convert an Event of YuniKorn; return None if it is not about a preemption.

    Raise ValueError if the pod or the time is missing or invalid.
    """
    victim, preemption = event.involved_object, told_by_yunikorn(event.message or "")
    if preemption is None or victim.kind != "Pod":
        return None
    uid, name = _named(victim)
    return by_yunikorn(preemption, uid, victim.namespace or "default", name, _at_ms(event))


def to_preempted_by_volcano(event: EventObject) -> Preempted | None:
    """Convert an Event of Volcano, which never names the preemptor; return None if it is not about an eviction.

    Raise ValueError if the pod or the time is missing or invalid.
    """
    victim, why = event.involved_object, told_by_volcano(event.message or "")
    if why is None or victim.kind != "Pod":
        return None
    uid, name = _named(victim)
    return Preempted(uid=uid, namespace=victim.namespace or "default", name=name, at_ms=_at_ms(event), why=why)


def _named(victim: ObjectReference) -> tuple[str, str]:
    """Return uid and name of the preempted pod. Raise ValueError if one of them is missing or invalid."""
    if not victim.uid or not victim.name:
        raise ValueError("it does not say which pod was preempted")
    _check(victim)
    return victim.uid, victim.name


def _check(reference: ObjectReference) -> None:
    named = ((reference.uid, _UID), (reference.namespace, _NAMESPACE), (reference.name, _NAME))
    for text, form in (*named, (reference.kind, _NAMESPACE)):
        if text and not re.fullmatch(form, text, re.ASCII):
            raise ValueError(f"{text[:80]!r} is not a valid name")


def _at_ms(event: EventObject) -> int:
    """Return the time of the first occurrence in milliseconds; a repeated Event keeps it. Raise ValueError."""
    at = event.event_time or event.first_timestamp or event.metadata.creation_timestamp
    if at is None:
        raise ValueError("it has no time")
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise ValueError(f"its time is in the year {at.year}")
    return to_ms(at)
