"""What policies ``cohort`` and ``fair-share`` promise of every decision, worked out here from the definitions anew."""

import random
from collections.abc import Collection

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.model.quota import ClusterQueue, Cohort, FlavorResource, QuotaCluster, Take, Workload
from engine.policies.cohort import Mode, PreemptionReason, Strategy, WorkloadVerdict, decide
from tests.engine.quota_worlds import FAIR, worlds
from tests.properties import examples

MANY = examples(200)
fair = st.sampled_from(FAIR)


Node = ClusterQueue | Cohort


class Books:
    """Usage and room by the definitions alone, counted anew for every question."""

    def __init__(self, cluster: QuotaCluster, gone: Collection[str] = ()) -> None:
        self.cluster = cluster
        self.staying = [one for one in cluster.workloads if one.holds and one.uid not in gone]

    def _below(self, node: Node) -> list[Node]:
        if isinstance(node, ClusterQueue):
            return []
        cohorts = (one for one in self.cluster.cohorts.values() if one.parent == node.name)
        return [*cohorts, *(one for one in self.cluster.queues.values() if one.cohort == node.name)]

    def has(self, node: Node, of: FlavorResource) -> int:
        """What a subtree has."""
        own = node.quotas[of].nominal if of in node.quotas else 0
        return own + sum(self.has(child, of) - self.keeps(child, of) for child in self._below(node))

    def keeps(self, node: Node, of: FlavorResource) -> int:
        """What of it the cohort above never sees."""
        lending = node.quotas[of].lending if of in node.quotas else None
        return 0 if lending is None else max(0, self.has(node, of) - lending)

    def used(self, node: Node, of: FlavorResource) -> int:
        """What of a subtree is used, of a cohort what its members use beyond what they keep."""
        if isinstance(node, ClusterQueue):
            return sum(one.usage.get(of, 0) for one in self.staying if one.queue == node.name)
        return sum(max(0, self.used(child, of) - self.keeps(child, of)) for child in self._below(node))

    def room(self, node: Node, of: FlavorResource) -> int:
        """What is still to be had."""
        above = node.cohort if isinstance(node, ClusterQueue) else node.parent
        has, keeps, used = self.has(node, of), self.keeps(node, of), self.used(node, of)
        if not above:
            return has - used
        lent = self.room(self.cluster.cohorts[above], of)
        borrowing = node.quotas[of].borrowing if of in node.quotas else None
        if borrowing is not None:
            lent = min(lent, has - keeps - max(0, used - keeps) + borrowing)
        return max(0, keeps - used) + lent

    def fits(self, ask: Workload, asked: dict[FlavorResource, int]) -> bool:
        """Whether there is room for all that is asked."""
        queue = self.cluster.queues[ask.queue]
        return all(amount <= max(0, self.room(queue, of)) for of, amount in asked.items())

    def borrows(self, queue: str, of: FlavorResource) -> bool:
        """Whether a queue uses more than its own."""
        one = self.cluster.queues[queue]
        return self.used(one, of) > self.has(one, of)


def gone(verdict: WorkloadVerdict) -> set[str]:
    """The uids of those who go."""
    return {target.workload.uid for target in verdict.search.targets}


@MANY
@given(worlds(), fair)
def test_what_fits_has_room_and_what_preempts_has_it_afterwards(
    world: tuple[QuotaCluster, Workload], strategies: tuple[Strategy, ...] | None
) -> None:
    """Never is anybody evicted for an ask that would not fit then, nor for one that fits anyway."""
    cluster, ask = world
    verdict = decide(cluster, ask, strategies)
    asked = verdict.assignment.asked
    if verdict.mode is Mode.FIT:
        assert Books(cluster).fits(ask, asked)
        assert not verdict.search.targets
    elif verdict.search.targets:
        assert not Books(cluster).fits(ask, asked)
        assert Books(cluster, gone(verdict)).fits(ask, asked)


@MANY
@given(worlds(), fair)
def test_whoever_goes_may_be_taken(
    world: tuple[QuotaCluster, Workload], strategies: tuple[Strategy, ...] | None
) -> None:
    """By the ask's queue, as its preemption says; from others only of a queue that borrows something contested."""
    cluster, ask = world
    verdict = decide(cluster, ask, strategies)
    preemption, contested = cluster.queues[ask.queue].preemption, verdict.assignment.contested
    for target in verdict.search.targets:
        one, own = target.workload, target.workload.queue == ask.queue
        assert (target.why is PreemptionReason.IN_QUEUE) == own
        assert cluster.queues[one.queue].active
        assert any(one.usage.get(of) for of in contested)
        take = preemption.within if own else preemption.reclaim
        newer = take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY and one.created_ms > ask.created_ms
        allowed = one.priority < ask.priority or (newer and one.priority == ask.priority)
        assert take is not Take.NEVER
        assert take is Take.ANY or allowed
        assert own or any(Books(cluster).borrows(one.queue, of) for of in contested)


@MANY
@given(worlds(), st.sampled_from(FAIR[1:]))
def test_none_but_the_last_that_was_found_could_stay(
    world: tuple[QuotaCluster, Workload], strategies: tuple[Strategy, ...]
) -> None:
    """As in Kueue: each of the others was put back, and there was no room with it; borrowing allowed, for certain."""
    cluster, ask = world
    verdict = decide(cluster, ask, strategies)
    asked, all_gone = verdict.assignment.asked, gone(verdict)
    needless = [uid for uid in all_gone if Books(cluster, all_gone - {uid}).fits(ask, asked)]
    assert len(needless) <= 1


@MANY
@given(worlds(), fair, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_does_not_matter(
    world: tuple[QuotaCluster, Workload], strategies: tuple[Strategy, ...] | None, dice: random.Random
) -> None:
    """The same cluster gives the same verdict, however it was listed."""
    cluster, ask = world
    shuffled = msgspec.structs.replace(
        cluster,
        workloads=tuple(dice.sample(cluster.workloads, len(cluster.workloads))),
        queues=dict(dice.sample(sorted(cluster.queues.items()), len(cluster.queues))),
        cohorts=dict(dice.sample(sorted(cluster.cohorts.items()), len(cluster.cohorts))),
    )
    assert decide(shuffled, ask, strategies) == decide(cluster, ask, strategies)


@MANY
@given(worlds(), fair)
def test_fewer_pods_are_asked_for_only_where_all_are_not_to_be_had(
    world: tuple[QuotaCluster, Workload], strategies: tuple[Strategy, ...] | None
) -> None:
    """And never fewer than a set can do with."""
    cluster, ask = world
    verdict = decide(cluster, ask, strategies)
    fewer = [one for one in verdict.assignment.sets if one.count < one.pod_set.count]
    assert all(one.pod_set.least is not None and one.count >= one.pod_set.least for one in fewer)
    if fewer:
        whole = tuple(msgspec.structs.replace(one, least=None) for one in ask.pod_sets)
        tried = decide(cluster, msgspec.structs.replace(ask, pod_sets=whole), strategies)
        assert tried.mode is not Mode.FIT
        assert not tried.search.targets
