"""What tenants are told of their victims, written into the outbox with what became of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from engine.explain import Message, Name, Tense
from engine.model.message import Timestamp, gettext_noop, ngettext_noop, plural_message
from scheduler_admin.accounts.scopes import Scope, scope_of_tenant
from scheduler_admin.core.links import application_url, pod_url
from scheduler_admin.core.times import LONGEST_GRACE
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Preemptor, Redaction
from scheduler_admin.decisions.sentences import LOST, for_whom, why_victim
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import enabled_for

Event = Notification.Event
GOING_ONE = gettext_noop("Pod %(pod)s in namespace %(namespace)s is about to be preempted. It must stop by %(until)s.")
GOING = ngettext_noop(
    "%(count)s pod of %(application)s in namespace %(namespace)s is about to be preempted. It must stop by %(until)s.",
    "%(count)s pods of %(application)s in namespace %(namespace)s are about to be preempted. They must "
    "stop by %(until)s.",
)
GOING_SOON = ngettext_noop(
    "%(count)s pod of %(application)s in namespace %(namespace)s is about to be preempted.",
    "%(count)s pods of %(application)s in namespace %(namespace)s are about to be preempted.",
)
PREEMPTED_ONE = gettext_noop("Pod %(pod)s in namespace %(namespace)s was preempted.")
PREEMPTED = ngettext_noop(
    "%(count)s pod of %(application)s in namespace %(namespace)s was preempted.",
    "%(count)s pods of %(application)s in namespace %(namespace)s were preempted.",
)
_ON_THEIR_WAY = (Victim.State.CHOSEN, Victim.State.ON_HOLD, Victim.State.EVICTED)
Fate = tuple[Decision, Iterable[Victim]]
"""A decision, and all of its victims."""
_NAMED = 20
"""So many pods a message names for programs."""


def tell_going(row: Decision, victims: Iterable[Victim], now: datetime) -> None:
    """Of a decision's ``victims``, all of them, some were just told to go. Called in the transaction of that."""
    tell(_going([(row, victims)]), now)


def tell_preempted(fates: Iterable[Fate], now: datetime) -> None:
    """Some victims of these are just gone, or they have ended. Called in the transaction of that.

    An application is told of once none of its pods is on its way.
    """
    tell(_preempted(fates), now)


def tell_recorded(victims: Iterable[Victim], now: datetime) -> None:
    """These victims of others were just recorded. Called within the transaction that records them."""
    found: dict[Decision, list[Victim]] = {victim.decision: [] for victim in victims}
    by_id = {row.pk: row for row in found}
    for victim in Victim.objects.filter(decision__in=by_id) if found else ():
        found[by_id[victim.decision_id]].append(victim)
    tell([*_going(found.items()), *_preempted(found.items())], now)


def _going(fates: Iterable[Fate]) -> list[Telling]:
    evicted = [(row, [victim for victim in victims if victim.state == Victim.State.EVICTED]) for row, victims in fates]
    return _tellings(Event.GOING, evicted)


def _preempted(fates: Iterable[Fate]) -> list[Telling]:
    over = [
        (row, [victim for victim in group if victim.state in LOST])
        for row, victims in fates
        for group in _applications(victims)
        if row.state == Decision.State.CLOSED or all(victim.state not in _ON_THEIR_WAY for victim in group)
    ]
    return _tellings(Event.PREEMPTED, over)


def _tellings(event: Notification.Event, found: Sequence[tuple[Decision, list[Victim]]]) -> list[Telling]:
    """Who evicts for reasons of its own makes room for nobody: that is no preemption."""
    found = [(row, victims) for row, victims in found if victims and row.source not in Decision.EVICTORS]
    channels = list(enabled_for(event)) if found else []
    stranger = Redaction.of(Scope())
    readers = {one.tenant_id: replace(stranger, scope=scope_of_tenant(one.tenant)) for one in channels}
    made = [
        _telling(event, channel, row, group, readers[channel.tenant_id])
        for row, victims in found
        for channel in channels
        for group in _applications(_own(channel, readers[channel.tenant_id], victims))
    ]
    if made:
        _read_whole(row for row, _victims in found)
    return made


def _own(channel: Channel, reader: Redaction, victims: Iterable[Victim]) -> list[Victim]:
    return [one for one in victims if reader.scope.has_pod(one.namespace, one.queue) and _since(channel, one)]


def _telling(
    event: Notification.Event, channel: Channel, row: Decision, group: list[Victim], reader: Redaction
) -> Telling:
    return Telling(
        channel=channel,
        event=event,
        about=f"{row.cluster.name} {group[0].namespace}/{_application(group[0])}",
        part=str(row.pk),
        pods=frozenset(victim.uid for victim in group),
        say=partial(_say, event, row, group, reader.preemptor(row)),
    )


def _read_whole(rows: Iterable[Decision]) -> None:
    """Read at once the documents that were left out when the rows were read: each sentence is made of one."""
    left_out = {row.pk: row for row in rows if "document" in row.get_deferred_fields()}
    documents = Decision.objects.filter(pk__in=left_out).values_list("pk", "document") if left_out else ()
    for pk, document in documents:
        left_out[pk].document = document


def _since(channel: Channel, victim: Victim) -> bool:
    """Whether it went while the channel was there: what is found of long ago is no news.

    One that was asked to go, and had gone before an answer came, went then.
    """
    at = victim.evicted_at or (victim.gone_at if victim.attempts else None)
    return at is not None and at >= channel.created_at


def _applications(victims: Iterable[Victim]) -> list[list[Victim]]:
    groups: dict[tuple[str, str], list[Victim]] = {}
    for victim in victims:
        groups.setdefault((victim.namespace, _application(victim)), []).append(victim)
    return list(groups.values())


def _application(victim: Victim) -> str:
    """A pod of none is one of its own."""
    return victim.application or victim.name


def _say(event: Notification.Event, row: Decision, group: list[Victim], asker: Preemptor, uids: frozenset[str]) -> Told:
    """What happens to these of an application's pods, why the first of them, and where to read on."""
    victims = [victim for victim in group if victim.uid in uids]
    first, until = victims[0], _until(victims)
    tense = Tense.EVICTED if event is Event.PREEMPTED else Tense.EVICTING
    facts: dict[str, Any] = {
        "cluster": row.cluster.name,
        "namespace": first.namespace,
        "application": first.application,
        "queue": first.queue,
        "pods": [victim.name for victim in victims[:_NAMED]],
        "pod_count": len(victims),
        "exit_deadline": until.isoformat() if until and event is Event.GOING else None,
        "decision_id": row.pk,
        "source": row.source,
        "preemptor": {name: value for name, value in vars(asker).items() if value},
    }
    headline = _headline(event, victims, until)
    return Told(
        lines=[
            text(each) for each in (headline, why_victim(row, first, tense, queue=asker.queue), *for_whom(row, asker))
        ],
        link=_link(row, victims),
        facts=facts,
    )


def _headline(event: Notification.Event, victims: list[Victim], until: datetime | None) -> Message:
    first, count = victims[0], len(victims)
    params = {"namespace": first.namespace, "application": _application(first)}
    single = {"pod": Name(first.name), "namespace": first.namespace}
    if event is Event.PREEMPTED:
        return Message(PREEMPTED_ONE, single) if count == 1 else plural_message(PREEMPTED, count, **params)
    if until is None:
        return plural_message(GOING_SOON, count, **params)
    at = Timestamp(until.timestamp() * 1000)
    return (
        Message(GOING_ONE, {**single, "until": at}) if count == 1 else plural_message(GOING, count, **params, until=at)
    )


def _until(victims: Iterable[Victim]) -> datetime | None:
    """When the grace of the last of them is over; None where that is not known."""
    longest = LONGEST_GRACE // timedelta(seconds=1)
    ends = [
        one.evicted_at + timedelta(seconds=min(one.grace_s, longest))
        for one in victims
        if one.evicted_at is not None and one.grace_s is not None
    ]
    return max(ends, default=None)


def _link(row: Decision, victims: list[Victim]) -> str:
    """The pod's page, or of several the list of their application's."""
    first = victims[0]
    if len(victims) == 1 or not first.application:
        return pod_url(row.cluster.name, first.namespace, first.name)
    return application_url(first.namespace, first.application)
