"""Quota that queues lend each other: what each could use, what it borrows, and its share of what there is to lend."""

import pytest
from hypothesis import given

from engine.model.quota import (
    NO_RANK,
    Cohort,
    FlavorQuota,
    QuotaCluster,
    QuotaError,
    QuotaTree,
    QuotaUsage,
    Workload,
    share_of,
)
from engine.policies.cohort.search.quota_index import QuotaIndex
from tests.engine.quota_builders import FLAVOR, cluster, holds, queue
from tests.engine.quota_worlds import worlds

CPU = (FLAVOR, "cpu")


def test_a_share_is_what_is_borrowed_of_what_there_is_to_lend() -> None:
    """It borrows 3 of the 16 that the cohort could lend, with a weight of 1: 187.5 thousandths."""
    ground = QuotaIndex(cluster(queue("a", cpu=6), queue("b", cpu=10), holds("w", "a", cpu=9)))
    share = share_of(ground.usage, ground.tree.queue["a"])
    assert (share.text, share.resource, share.borrows) == ("187.5", "cpu", True)
    assert share_of(ground.usage, ground.tree.queue["b"]).text == "0"


def test_a_weight_of_two_halves_a_share_and_one_of_nothing_makes_it_infinite() -> None:
    """Unless nothing is borrowed: then it is nothing at any weight."""
    shares = {}
    for weight in (2, 0):
        ground = QuotaIndex(
            cluster(queue("a", cpu=6, weight=weight), queue("b", cpu=10, weight=0), holds("w", "a", cpu=9))
        )
        shares[weight] = [share_of(ground.usage, ground.tree.queue[name]).text for name in "ab"]
    assert shares == {2: ["93.75", "0"], 0: ["+Inf", "0"]}


def test_what_a_queue_does_not_lend_the_cohort_never_sees() -> None:
    """It keeps 4 of its 6, and may itself borrow no more than 1 of what others lend."""
    tree = QuotaTree([queue("a", cpu=FlavorQuota(6, borrowing=1, lending=2)), queue("b", cpu=10)], [])
    usage = QuotaUsage(tree)
    assert [usage.available(tree.queue[name], CPU) for name in "ab"] == [7, 12]
    usage.add(tree.queue["a"], {CPU: 4})
    assert [usage.available(tree.queue[name], CPU) for name in "ab"] == [3, 12]
    usage.add(tree.queue["a"], {CPU: 2})
    assert [usage.available(tree.queue[name], CPU) for name in "ab"] == [1, 10]


def test_a_cohort_that_lies_below_itself_is_refused() -> None:
    """There is no top to borrow from."""
    with pytest.raises(QuotaError, match="lies below itself"):
        QuotaTree([queue("a", "x", cpu=1)], [Cohort(name="x", parent="y"), Cohort(name="y", parent="x")])


@given(worlds())
def test_taking_workloads_and_putting_them_back_leaves_everything_as_it_was(
    world: tuple[QuotaCluster, Workload],
) -> None:
    """A cohort's usage follows from what its members use, whatever came and went before."""
    given_cluster, _ = world
    ground = QuotaIndex(given_cluster)
    tree, usage = ground.tree, ground.usage.copy()
    holding = [one for one in given_cluster.workloads if one.holds]
    for one in holding:
        usage.add(tree.queue[one.queue], one.usage, -1)
    slots = {of for subtree in tree.subtree for of in subtree}
    assert not any(any(usage.columns[of]) for of in slots)
    for one in reversed(holding):
        usage.add(tree.queue[one.queue], one.usage)
    assert [usage.columns[of] for of in slots] == [ground.usage.columns[of] for of in slots]


@given(worlds())
def test_shares_compare_alike_as_whole_numbers(world: tuple[QuotaCluster, Workload]) -> None:
    """Among all that is in one cohort; who borrows nothing has none."""
    ground = QuotaIndex(world[0])
    for cohort in ground.tree.cohort.values():
        nodes = ground.tree.children[cohort]
        shares = {node: share_of(ground.usage, node) for node in nodes}
        ranks = {node: ground.ranks.of(ground.usage, node) for node in nodes}
        assert all((ranks[node] is not None) == shares[node].borrows for node in nodes)
        by_rank = sorted(nodes, key=lambda node: (ranks[node] or NO_RANK, node))
        assert by_rank == sorted(nodes, key=lambda node: (shares[node].rank, node))
