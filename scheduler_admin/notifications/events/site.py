"""What channels of the site are told: what happened to the site itself, as the audit log has it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings

from engine.explain import Message, Name
from engine.model.message import Timestamp, gettext_noop
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.links import revision_url
from scheduler_admin.core.translation import text
from scheduler_admin.notifications.models import Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import of_site
from scheduler_admin.queues.models import Revision

Event = Notification.Event
PUBLISHED = gettext_noop("%(actor)s published revision %(number)s of hierarchy %(hierarchy)s.")
MODE = gettext_noop("%(actor)s changed the mode of cluster %(cluster)s from %(before)s to %(mode)s.")
PAUSED_ALL = gettext_noop("%(actor)s paused evictions in all clusters.")
PAUSED = gettext_noop("%(actor)s paused evictions in cluster %(cluster)s.")
PAUSED_QUEUE = gettext_noop("%(actor)s paused evictions in queue %(queue)s of cluster %(cluster)s.")
UNTIL = gettext_noop("The pause ends at %(until)s.")
RESUMED_ALL = gettext_noop("%(actor)s resumed evictions in all clusters.")
RESUMED = gettext_noop("%(actor)s resumed evictions in cluster %(cluster)s.")
RESUMED_QUEUE = gettext_noop("%(actor)s resumed evictions in queue %(queue)s of cluster %(cluster)s.")
UNREADABLE = gettext_noop("Cluster %(cluster)s can’t be read. No pods are evicted there until it is read again.")
READABLE = gettext_noop("Cluster %(cluster)s is read again.")
ERROR = gettext_noop("Error: %(error)s")
REASON = gettext_noop("Reason: %(reason)s")


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is said of an audit event."""

    facts: Mapping[str, Any]
    """For programs."""
    sentences: Callable[[], Iterator[Message]]
    """For people; called in the language of the channel."""
    link: str = field(default_factory=lambda: f"{settings.SITE_URL}/clusters/")


def report(*, instance: AuditEvent, created: bool, **_signal: Any) -> None:
    """Tell the site's channels of an audit event, in the transaction that records it. Receives ``post_save``."""
    known = _REPORTS.get(instance.verb) if created else None
    channels = of_site(known[0]) if known else []
    if known is None or not channels:
        return
    event, make = known
    made = make(instance)
    tellings = [
        Telling(
            channel=channel,
            event=event,
            about=instance.target,
            part=str(instance.pk),
            say=lambda _pods: Told(
                lines=[text(one) for one in made.sentences()], link=made.link, facts=dict(made.facts)
            ),
        )
        for channel in channels
    ]
    tell(tellings, instance.at)


def _published(event: AuditEvent) -> Report:
    hierarchy, _blank, number = event.target.rpartition(" ")
    revision = Revision.objects.select_related("hierarchy").get(hierarchy__name=hierarchy, number=int(number))
    facts = {
        "hierarchy": hierarchy,
        "revision": revision.number,
        "policy": revision.policy,
        "digest": revision.digest,
        **_person(event),
    }
    params = {"actor": event.actor_name, "number": number, "hierarchy": hierarchy}
    cluster = Cluster.objects.filter(hierarchy=revision.hierarchy).order_by("name").first()
    link = {"link": revision_url(cluster.name, revision.number)} if cluster else {}
    return Report(facts=facts, sentences=partial(_with_reason, Message(PUBLISHED, params), event), **link)


def _mode(event: AuditEvent) -> Report:
    before, mode = (Cluster.Mode(event.details[name]) for name in ("before", "mode"))

    def sentences() -> Iterator[Message]:
        words = {"before": str(before.label), "mode": str(mode.label)}
        yield from _with_reason(Message(MODE, {"actor": event.actor_name, "cluster": event.target, **words}), event)

    facts = {"cluster": event.target, "before": before.value, "mode": mode.value, **_person(event)}
    return Report(facts=facts, sentences=sentences)


def _paused(event: AuditEvent) -> Report:
    until = event.details.get("until")

    def sentences() -> Iterator[Message]:
        yield _of_place(event, PAUSED_ALL, PAUSED, PAUSED_QUEUE)
        if until:
            yield Message(UNTIL, {"until": Timestamp(datetime.fromisoformat(until).timestamp() * 1000)})
        yield from _reason(event)

    facts = {**_place(event), "until": until, **_person(event)}
    return Report(facts=facts, sentences=sentences)


def _resumed(event: AuditEvent) -> Report:
    sentences = lambda: _with_reason(_of_place(event, RESUMED_ALL, RESUMED, RESUMED_QUEUE), event)  # noqa: E731
    return Report(facts={**_place(event), **_person(event)}, sentences=sentences)


def _unreadable(event: AuditEvent) -> Report:
    error = event.details["error"]

    def sentences() -> Iterator[Message]:
        yield Message(UNREADABLE, {"cluster": event.target})
        yield Message(ERROR, {"error": error})

    return Report(facts={"cluster": event.target, "error": error}, sentences=sentences)


def _readable(event: AuditEvent) -> Report:
    sentences = lambda: iter([Message(READABLE, {"cluster": event.target})])  # noqa: E731
    return Report(facts={"cluster": event.target}, sentences=sentences)


_REPORTS: Mapping[str, tuple[Notification.Event, Callable[[AuditEvent], Report]]] = {
    "tree.publish": (Event.REVISION_PUBLISHED, _published),
    "cluster.mode": (Event.MODE_CHANGED, _mode),
    "cluster.pause": (Event.EVICTIONS_PAUSED, _paused),
    "cluster.resume": (Event.EVICTIONS_RESUMED, _resumed),
    "cluster.unreadable": (Event.CLUSTER_UNREADABLE, _unreadable),
    "cluster.readable": (Event.CLUSTER_READABLE, _readable),
}
"""What the audit log calls an act -> the event, and what is said of it."""


def _person(event: AuditEvent) -> dict[str, str]:
    return {"actor": event.actor_name, "reason": event.reason}


def _place(event: AuditEvent) -> dict[str, str | None]:
    """Where a pause holds: a cluster, or null for all; and a queue, or null for all of it."""
    cluster, _blank, queue = event.target.partition(" ")
    return {"cluster": None if cluster == "*" else cluster, "queue": queue or None}


def _of_place(event: AuditEvent, everywhere: str, cluster: str, queue: str) -> Message:
    """The sentence for where a pause holds."""
    place = {name: value for name, value in _place(event).items() if value is not None}
    sentence = queue if "queue" in place else cluster if "cluster" in place else everywhere
    marked = {name: Name(value) if name == "queue" else value for name, value in place.items()}
    return Message(sentence, {"actor": event.actor_name, **marked})


def _with_reason(sentence: Message, event: AuditEvent) -> Iterator[Message]:
    yield sentence
    yield from _reason(event)


def _reason(event: AuditEvent) -> Iterator[Message]:
    if event.reason:
        yield Message(REASON, {"reason": event.reason})
