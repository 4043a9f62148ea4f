"""Decisions of others: kube-scheduler's preemptions and what else was evicted, recorded once and followed to their end.

Nothing is done to the cluster here, whatever its mode.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q, QuerySet

from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions import Key, Observed, decode, observe, sighting_keys
from engine.observation.replay import replay_observed
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.replay.rewind import keep
from scheduler_admin.decisions.sentences import LOST
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.models import UsedTree
from scheduler_admin.sync.used_trees import UsedTrees, tree_used
from scheduler_admin.worker.recorder.follow import follow
from scheduler_admin.worker.recorder.observed import Others

MOST_AT_ONCE = 500
"""So many victims are taken down by one pass, oldest first; the next goes on, and none takes long."""
_PIECE = 1_000
"""So many are asked for by one query."""


class Seen(NamedTuple):
    """What others evicted and has not been recorded yet."""

    found: tuple[Observed, ...]
    unsure: dict[str, int]
    """Victim (uid) -> the decision (id) that it is recorded with, where an Event now says for which ask it went."""
    before: dict[int, ClusterState]
    """See engine.observation.replay.Retraced."""
    trees: dict[int, UsedTree]
    """By place in ``found``: the tree that the scheduler went by, where that was not the revision's."""


def look(
    *,
    cluster: Cluster,
    revision: Revision,
    tree: QueueTree,
    state: ClusterState,
    settled: set[Key],
    now: datetime,
    events: bool = True,
) -> Seen:
    """See what others evicted, and decide again what schedulers decided, by the tree that they went by then.

    Nothing is written here. ``tree``: the revision's, grown by the dynamic queues of the ``state``. ``settled`` holds
    what need not be looked at again; it is kept up here. ``events``: whether Events can be read.
    """
    now_ms = int(now.timestamp() * 1000)
    keys = sighting_keys(state, now_ms=now_ms, events=events)
    settled.intersection_update(keys)
    known = _known(cluster, [key for key in keys if key not in settled])
    settled |= known.done
    if len(settled) == len(keys):
        return Seen((), {}, {}, {})
    used = UsedTrees(cluster, revision)
    if (other := used.other(now_ms)) is not None:
        tree = state.past().snapshot(tree_used(other), now_ms=now_ms).tree  # which leaves the pass's own as it is
    found = observe(
        state, tree, now_ms=now_ms, settled=settled, own_victims=known.ours, events=events, most=MOST_AT_ONCE
    )
    again = replay_observed(found, state, used.tree)
    others = {number: row for number, seen in enumerate(found) if (row := used.other(seen.at_ms)) is not None}
    return Seen(again.decisions, known.unsure, again.before, others)


def record_others(
    *, cluster: Cluster, revision: Revision, state: ClusterState, seen: Seen, entry: int, now: datetime
) -> bool:
    """Record what ``look`` saw, and follow what has been recorded. Called within a transaction.

    ``entry`` (id) of the journal has ``state``. Whether there is news.
    """
    waiting, news = follow(cluster, state, now)
    if seen.found:
        others = Others(cluster, revision, state, now, waiting=waiting, unsure=seen.unsure)
        keep(others.record(seen.found), seen.found, seen.before, seen.trees, state=state, entry=entry)
    return bool(seen.found) or news


class _Known(NamedTuple):
    """What the database tells of some sightings."""

    done: set[Key]
    """They say nothing new."""
    ours: set[str]
    """Victims (uids) that we ourselves may be about to evict."""
    unsure: dict[str, int]
    """See ``Seen``."""


class _Recorded(NamedTuple):
    """A victim whose going is recorded."""

    uid: str
    decision: int
    source: str
    ask_uid: str
    ask_namespace: str
    ask_name: str

    def says(self, ask: str) -> bool:
        """Whether it holds all that a sighting can tell."""
        own = self.ask_uid or f"{self.ask_namespace}/{self.ask_name}".strip("/")
        return not ask or ask == own or self.source != Decision.Source.KUBE_SCHEDULER


def _known(cluster: Cluster, keys: Sequence[Key]) -> _Known:
    """Asked piece by piece, oldest first, and no further than what this pass takes down."""
    carried_out = Victim.objects.filter(decision__in=Decision.objects.filter(cluster=cluster).open()).order_by()
    found, new = _Known(set(), set(carried_out.values_list("uid", flat=True)), {}), 0
    for start in range(0, len(keys), _PIECE):
        piece = keys[start : start + _PIECE]
        _look_up(cluster, piece, found)
        new += sum(key not in found.done and key[0] not in found.ours for key in piece)
        if new >= MOST_AT_ONCE:
            break
    return found


def _look_up(cluster: Cluster, keys: Sequence[Key], found: _Known) -> None:
    recorded: dict[str, list[_Recorded]] = {}
    rows = Victim.objects.filter(decision__cluster=cluster, uid__in={uid for uid, _ask in keys})
    for one in _recorded(rows):
        recorded.setdefault(one.uid, []).append(one)
    differing: dict[Key, int] = {}
    for uid, ask in keys:
        if any(one.says(ask) for one in recorded.get(uid, ())):
            found.done.add((uid, ask))
        elif uid in recorded:
            differing[uid, ask] = recorded[uid][0].decision
    certain = _certain(differing.values())
    found.done.update(key for key, decision in differing.items() if decision in certain)
    found.unsure.update({uid: decision for (uid, _ask), decision in differing.items() if decision not in certain})


def _recorded(rows: QuerySet[Victim]) -> Iterable[_Recorded]:
    unanswered = Q(attempts__gt=0, state=Victim.State.CHOSEN)  # a held one is known not to have gone
    gone = unanswered | Q(state__in=LOST) | ~Q(decision__source=Decision.Source.ENGINE)
    ask = ("decision__ask_uid", "decision__ask_namespace", "decision__ask_name")
    return (_Recorded(*row) for row in rows.filter(gone).values_list("uid", "decision_id", "decision__source", *ask))


def _certain(decisions: Iterable[int]) -> set[int]:
    """Those (ids) of which an Event has said for whom."""
    documents = Decision.objects.filter(pk__in=set(decisions)).values_list("pk", "document")
    return {pk for pk, document in documents if decode(document).certain}
