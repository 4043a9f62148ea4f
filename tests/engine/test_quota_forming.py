"""Trees read as quota: what a parent has, what is a border, and what becomes of Kueue's own objects."""

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.formats.kueue import read
from engine.formats.kueue.cluster import quota_cluster
from engine.model.quota import ClusterQueue, Cohort, FlavorQuota, QuotaCluster
from engine.model.quota.tree_reading import FLAVOR, DerivedQuota, QuotaReading, derive_quota
from tests.builders import queue, tree

CPU = (FLAVOR, "cpu")
AS_KUEUE = QuotaReading(nested=False)
RECORDED = Path(__file__).parents[1] / "data" / "kueue"


def test_a_parents_guarantee_contains_those_below_it() -> None:
    """Of 10 its queues have 7: the other 3 are lent to whoever needs them. Of less than those have nothing is left."""
    found = derive_quota(
        tree({"team": queue("10"), "team.a": queue("4"), "team.b": queue("3"), "few": queue("1")}), QuotaReading()
    )
    assert found.cohorts["root.team"].quotas == {CPU: FlavorQuota(3000)}
    short = derive_quota(tree({"team": queue("5"), "team.a": queue("4"), "team.b": queue("3")}), QuotaReading())
    assert short.cohorts["root.team"].quotas == {CPU: FlavorQuota(0)}


def test_as_in_kueue_a_parents_guarantee_is_on_top_of_those_below_it() -> None:
    """And a queue has only what it names."""
    said = tree({"team": queue("10"), "team.a": queue("4"), "team.b": queue({"memory": "1Gi"})})
    found = derive_quota(said, AS_KUEUE)
    assert found.cohorts["root.team"].quotas == {CPU: FlavorQuota(10_000)}
    assert found.queues["root.team.b"].group_of("cpu") is None
    assert derive_quota(said, QuotaReading()).queues["root.team.b"].group_of("cpu") is not None


def test_a_max_is_what_is_guaranteed_and_what_may_be_borrowed_on_top() -> None:
    """Of a parent: beyond all that there is below it. A max below the guarantee is kept."""
    found = derive_quota(
        tree({"team": queue(max="9"), "team.a": queue("4", max="6"), "team.b": queue("4", max="3")}), QuotaReading()
    )
    assert found.queues["root.team.a"].quotas == {CPU: FlavorQuota(4000, 2000)}
    assert found.queues["root.team.b"].quotas == {CPU: FlavorQuota(3000, 0)}
    assert found.cohorts["root.team"].quotas == {CPU: FlavorQuota(0, 2000)}


def test_a_fence_is_the_top_of_a_cohort_of_its_own_and_its_max_is_what_there_is_if_nothing_is_guaranteed() -> None:
    """As the root's, which is the top of all others."""
    found = derive_quota(
        tree({"root": queue(max="9"), "shut": queue("2", max="5", fence=True), "a": queue("4")}), QuotaReading()
    )
    assert (found.queues["root.shut"].cohort, found.queues["root.a"].cohort) == ("", "root")
    assert found.tree.subtree[found.tree.queue["root.shut"]][CPU] == 2_000
    assert found.cohorts["root"].quotas[CPU].nominal == 9_000 - 2_000 - 4_000


def test_amounts_of_all_flavors_of_a_resource_are_added_up() -> None:
    """Which nodes are of which is not known; what is unlimited in one flavor is unlimited."""
    said = {"cpu@spot": "4", "cpu@reserved": "2"}
    found = derive_quota(
        tree({"a": queue(said, max={"cpu@spot": "5", "cpu@reserved": "2"}), "b": queue(said)}), QuotaReading()
    )
    assert found.queues["root.a"].quotas == {CPU: FlavorQuota(6000, 1000)}
    assert found.queues["root.b"].quotas == {CPU: FlavorQuota(6000)}


def worlds(name: str) -> Iterable[list[dict[str, Any]]]:
    """The different quotas of the recorded cases, as Kueue's objects: every fifth, as reading takes its time."""
    known = set()
    for line in gzip.decompress((RECORDED / name).read_bytes()).splitlines():
        objects = [one for one in msgspec.json.decode(line)["objects"] if one["kind"] in {"ClusterQueue", "Cohort"}]
        text = msgspec.json.encode(objects)
        if text not in known:
            known.add(text)
            if len(known) % 5 == 1:
                yield objects


Told = dict[str, tuple[str, dict[str, tuple[int, int | None]]]]
"""Queue or cohort -> the cohort above, and by resource the nominal quota and the borrowing limit, flavors added up."""


def told(nodes: Iterable[ClusterQueue | Cohort], borders: frozenset[str] = frozenset()) -> Told:
    """Of a top, or a queue of no cohort, no limit: there is nobody to borrow from."""
    found: Told = {}
    for one in nodes:
        above = (one.cohort if isinstance(one, ClusterQueue) else one.parent).rpartition(".")[2]
        amounts: dict[str, tuple[int, int | None]] = {}
        for (_, resource), quota in one.quotas.items():
            nominal, limit = amounts.get(resource, (0, 0))
            limited = limit is not None and quota.borrowing is not None and above not in borders | {""}
            amounts[resource] = (nominal + quota.nominal, (limit or 0) + (quota.borrowing or 0) if limited else None)
        found[one.name.rpartition(".")[2]] = ("" if above in borders else above, amounts)
    return found


def of_kueue(cluster: QuotaCluster) -> Told:
    """What Kueue's objects say themselves, with the cohorts that they only name."""
    named = {one.cohort for one in cluster.queues.values()} | {one.parent for one in cluster.cohorts.values()}
    bare = [Cohort(name=name) for name in named - cluster.cohorts.keys() - {""}]
    return told([*cluster.queues.values(), *cluster.cohorts.values(), *bare])


def of_tree(found: DerivedQuota) -> Told:
    """What our tree makes of them; its root is none of theirs."""
    every = told([*found.queues.values(), *found.cohorts.values()])
    return {name: one for name, one in every.items() if name != "root" or one[1]}


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.glob("*.gz")))
def test_the_recorded_queues_of_kueue_come_out_as_kueue_means_them(name: str) -> None:
    """Through our tree and back."""
    compared = 0
    for objects in worlds(name):
        text = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects}).decode()
        again = of_tree(derive_quota(read(text).tree, AS_KUEUE))
        assert again == of_kueue(quota_cluster(objects, now_ms=0))
        compared += 1
    assert compared > 5
