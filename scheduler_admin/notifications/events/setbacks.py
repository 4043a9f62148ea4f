"""What tenants are told of refused evictions, of who is preempted again and again, and of loops of preemptions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from engine.explain import Message, Name
from engine.model.message import gettext_noop, ngettext_noop, plural_message
from scheduler_admin.accounts.scopes import scope_of_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.links import application_url, pod_url
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Happening, Turn, Victim
from scheduler_admin.decisions.redaction import Redaction, SeenLoop
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import enabled_for, of_site

Event = Notification.Event
STAYS = gettext_noop(
    "Pod %(pod)s in namespace %(namespace)s was to be preempted, but the cluster rejected the eviction. "
    "The pod keeps running."
)
NO_ROOM = gettext_noop(
    "Pod %(pod)s in namespace %(namespace)s is still pending. The cluster rejected an eviction that would "
    "have helped make room for it."
)
AGAIN = ngettext_noop(
    "%(application)s in namespace %(namespace)s was preempted %(count)s time in the last 24 hours.",
    "%(application)s in namespace %(namespace)s was preempted %(count)s times in the last 24 hours.",
)
LOOP = gettext_noop("In cluster %(cluster)s, queues preempt each other in a loop: %(loop)s.")
GAVE_WAY = ngettext_noop(
    "In that loop, %(application)s in namespace %(namespace)s was preempted %(count)s time in the last 24 hours.",
    "In that loop, %(application)s in namespace %(namespace)s was preempted %(count)s times in the last 24 hours.",
)
_DAY = timedelta(hours=24)


def tell_refused(row: Decision, victim: Victim, now: datetime) -> None:
    """The cluster does not let a victim go: told to whose pod it is, and to whose ask. Called in a transaction.

    Not in its words, which may be about anybody. Of a pod it is told once a day, though every new decision is refused.
    """
    tellings = []
    for channel in enabled_for(Event.REFUSED):
        scope = scope_of_tenant(channel.tenant)
        if scope.has_pod(victim.namespace, victim.queue):
            tellings.append(_refusal(channel, row, STAYS, victim.uid, victim.namespace, victim.name, victim.queue))
        if scope.has_pod(row.ask_namespace, row.ask_queue):
            ask = (row.ask_uid, row.ask_namespace, row.ask_name, row.ask_queue)
            tellings.append(_refusal(channel, row, NO_ROOM, *ask))
    tell(tellings, now)


def _refusal(
    channel: Channel, row: Decision, sentence: str, uid: str, namespace: str, name: str, queue: str
) -> Telling:
    facts = {"cluster": row.cluster.name, "namespace": namespace, "pod": name, "queue": queue, "decision_id": row.pk}
    return Telling(
        channel=channel,
        event=Event.REFUSED,
        about=f"{row.cluster.name} {namespace}/{name}",
        part=str(row.pk),
        pods=frozenset({uid}),
        say=lambda _new: Told(
            lines=[text(refusal_message(sentence, namespace, name))],
            link=pod_url(row.cluster.name, namespace, name),
            facts=facts,
        ),
    )


def tell_repeated(cluster: Cluster, times: Mapping[int, int], now: datetime) -> None:
    """Of some applications, each by its last victim (id): how often they were hit in the day up to then.

    Told once a day of each. Called in a transaction.
    """
    channels = list(enabled_for(Event.REPEATED)) if times else []
    victims = list(Victim.objects.filter(pk__in=times).order_by("pk")) if channels else []
    recent = Notification.objects.filter(event=Event.REPEATED, created_at__gt=now - _DAY, channel__in=channels)
    known = set(recent.order_by().values_list("channel_id", "about")) if victims else set()
    scopes = {channel.tenant_id: scope_of_tenant(channel.tenant) for channel in channels}
    tellings = [
        Telling(
            channel=channel,
            event=Event.REPEATED,
            about=_about(cluster, victim),
            part=str(victim.decision_id),
            say=partial(_say_repeated, cluster, victim, times[victim.pk]),
        )
        for victim in victims
        for channel in channels
        if scopes[channel.tenant_id].has_pod(victim.namespace, victim.queue)
        and victim.evicted_at is not None
        and victim.evicted_at >= channel.created_at
        and (channel.pk, _about(cluster, victim)) not in known
    ]
    tell(tellings, now)


def _about(cluster: Cluster, lost: Victim | Turn) -> str:
    return f"{cluster.name} {lost.namespace}/{lost.application}"


def _say_repeated(cluster: Cluster, victim: Victim, times: int, _pods: object) -> Told:
    facts: dict[str, Any] = {
        "cluster": cluster.name,
        "namespace": victim.namespace,
        "application": victim.application,
        "queue": victim.queue,
        "preemptions_24h": times,
        "decision_id": victim.decision_id,
    }
    said = plural_message(AGAIN, times, application=victim.application, namespace=victim.namespace)
    return Told(lines=[text(said)], link=application_url(victim.namespace, victim.application), facts=facts)


def tell_loops(cluster: Cluster, rows: Sequence[Happening], now: datetime) -> None:
    """Queue the notifications of new preemption loops. Called in a transaction.

    A tenant's channel gets the loops with an application of the tenant, without what the site hides of others. A
    channel of the site gets every loop in full.
    """
    tellings = []
    for channel in [*enabled_for(Event.LOOP), *of_site(Event.LOOP)] if rows else ():
        redaction = Redaction.of(scope_of_tenant(channel.tenant))
        for row in rows:
            seen = redaction.loop(row.turns)
            if seen.own:
                tellings.append(
                    Telling(
                        channel=channel,
                        event=Event.LOOP,
                        about=_about(cluster, seen.own[0]),
                        part=str(row.pk),
                        say=partial(_say_loop, cluster, seen),
                    )
                )
    tell(tellings, now)


def _say_loop(cluster: Cluster, seen: SeenLoop, _pods: object) -> Told:
    gave_way = [
        plural_message(GAVE_WAY, turn.times or 0, application=turn.application, namespace=turn.namespace)
        for turn in seen.own
    ]
    return Told(
        lines=[text(one) for one in (loop_message(cluster.name, seen), *gave_way)],
        link=application_url(seen.own[0].namespace, seen.own[0].application),
        facts={"cluster": cluster.name, **seen.facts},
    )


def refusal_message(sentence: str, namespace: str, pod: str) -> Message:
    """A refused eviction in a sentence: STAYS of the victim, NO_ROOM of the ask."""
    return Message(sentence, {"pod": Name(pod), "namespace": namespace})


def loop_message(cluster: str, seen: SeenLoop) -> Message:
    """A loop in a sentence."""
    return Message(LOOP, {"cluster": cluster, "loop": seen.name})
