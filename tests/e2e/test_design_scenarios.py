"""The design document's three scenarios, played on the whole product: simulator, worker, database, API.

Prod and Test are siblings, their pods have equal priority and hold two cores each, ReplicaSets create again what is
evicted, and the cluster is full.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.manifests import manifests, queues, run_together
from tests.e2e.product import Product, SimulatedCluster
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


def _stays(product: Product, cluster: SimulatedCluster, *, asks: int) -> None:
    """Three more passes with ``asks`` waiting, all of them past their delay, and nothing more decided."""
    wait_for(lambda: all(one["state"] == "closed" for one in product.preemptions(cluster.name)), "Every decision's end")
    before = [one["id"] for one in product.preemptions(cluster.name)]
    counts = {one["id"]: one["evaluations"] for one in product.decisions(cluster.name)}

    def considered_again() -> bool:
        waiting = [one for one in product.decisions(cluster.name) if one["state"] == "recorded"]
        settled = [one for one in waiting if one["reason"] != "delay"]
        again = [one for one in settled if one["evaluations"] >= counts.get(one["id"], 0) + 3]
        return len({one["pending_pod"]["name"] for one in again}) == asks

    wait_for(considered_again, f"{asks} asks that wait, considered three more times")
    assert [one["id"] for one in product.preemptions(cluster.name)] == before


def _victims(decisions: list[dict[str, Any]]) -> list[str]:
    return [victim["name"] for decision in decisions for victim in decision["victims"]]


def test_scenario_1_prod_takes_one_pod_and_nothing_loops(product: Product, tmp_path: Path) -> None:
    """Prod at 4 of 5 takes one pod of Test, at 8 over 5; both end at 6, Test's new pod waits, nothing loops."""
    tree = queues(tmp_path, prod=5, test=5)
    full = manifests(tmp_path, nodes=[4, 4, 4], prod=2, test=4)
    with product.cluster("scenario-1", manifests=full, tree=tree) as cluster:
        wait_for(lambda: run_together(cluster, prod=2, test=4), "A full cluster")
        product.act_on(cluster)
        cluster.scale("prod", "prod", 5)
        wait_for(lambda: run_together(cluster, prod=3, test=3), "6 and 6")
        _stays(product, cluster, asks=3)  # two of Prod, above its guarantee, and the new one of Test
        decisions = product.preemptions("scenario-1")
        assert [decision["ending"] for decision in decisions] == ["bound"]
        assert len(_victims(decisions)) == 1


def test_scenario_2_nothing_happens_where_test_would_fall_below(product: Product, tmp_path: Path) -> None:
    """Test at 6 over 5 would be left with 4 by the loss of a pod: nothing is preempted, Prod waits."""
    tree = queues(tmp_path, prod=5, test=5)
    full = manifests(tmp_path, nodes=[4, 6], prod=2, test=3)
    with product.cluster("scenario-2", manifests=full, tree=tree) as cluster:
        wait_for(lambda: run_together(cluster, prod=2, test=3), "A full cluster")
        product.act_on(cluster)
        cluster.scale("prod", "prod", 3)
        wait_for(lambda: len(cluster.pods("prod")) == 3, "Prod's ask")
        _stays(product, cluster, asks=1)
        assert product.preemptions("scenario-2") == []
        assert run_together(cluster, prod=2, test=3)


def test_scenario_3_prod_goes_on_until_its_guarantee(product: Product, tmp_path: Path) -> None:
    """Prod at 4 of 10 takes three pods of Test, at 8 over 2, one ask at a time, ends at 10 and 2, and stops."""
    tree = queues(tmp_path, prod=10, test=2)
    full = manifests(tmp_path, nodes=[4, 4, 4], prod=2, test=4)
    with product.cluster("scenario-3", manifests=full, tree=tree) as cluster:
        wait_for(lambda: run_together(cluster, prod=2, test=4), "A full cluster")
        product.act_on(cluster)
        cluster.scale("prod", "prod", 6)
        wait_for(lambda: run_together(cluster, prod=5, test=1), "10 and 2")
        _stays(product, cluster, asks=4)
        decisions = product.preemptions("scenario-3")
        assert [decision["ending"] for decision in decisions] == ["bound"] * 3
        assert len(_victims(decisions)) == 3


def test_a_killed_worker_is_continued_without_a_second_eviction(product: Product, tmp_path: Path) -> None:
    """A worker killed between eviction and exit leaves a decision that the next worker brings to its end."""
    tree = queues(tmp_path, prod=6, test=2)
    full = manifests(tmp_path, nodes=[4, 4], prod=1, test=3, exits_after="8s")
    with product.cluster("killed", manifests=full, tree=tree) as cluster:
        wait_for(lambda: run_together(cluster, prod=1, test=3), "A full cluster")
        product.act_on(cluster)
        cluster.scale("prod", "prod", 2)
        wait_for(lambda: len(cluster.running("test")) == 2, "An eviction")
        product.kill_engine()
        wait_for(lambda: run_together(cluster, prod=2, test=2), "The ask's pod, bound to the freed room")
        wait_for(lambda: [d["ending"] for d in product.preemptions("killed")] == ["bound"], "The decision's end")
        sent = [
            one["name"]
            for one in cluster.audit()
            if one["subresource"] == "eviction" and one["code"] < 300 and not one["dry_run"]
        ]
        assert len(sent) == len(set(sent)) == 1
