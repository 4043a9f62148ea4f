"""No storm: whatever ReplicaSets make again and again, evictions are bounded and come to rest."""

from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.utils import timezone

from engine.model.objects import Pod
from engine.model.quantities import fits
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import passes
from tests.builders import node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


class Life:
    """Controllers, a kubelet and a scheduler around passes: victims leave, come back as asks, and take what is free."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.made = watch, 0

    def turn(self) -> None:
        """One pass, and what a cluster makes of it within seconds."""
        cluster = Cluster.objects.select_related("hierarchy__current").get()
        passes.run_pass(cluster=cluster, watch=self.watch)
        for gone in [one for one in self.watch.state.pods.values() if one.terminating]:
            self.watch.gone(gone.name)
            self.watch.put(self._again(gone))
        kept = {row.node: row.ask_uid for row in Decision.objects.open()}
        for one in sorted(self.watch.state.pods.values(), key=lambda each: each.created_ms):
            if one.node is None:
                self._schedule(one, kept)

    def _again(self, gone: Pod) -> Pod:
        self.made += 1
        name, now_ms = f"again-{self.made}", _now_ms()
        fresh = {"name": name, "uid": f"uid-{name}", "created_ms": now_ms, "unschedulable_ms": now_ms}
        return msgspec.structs.replace(gone, node=None, started_ms=None, terminating=False, **fresh)

    def _schedule(self, ask: Pod, kept: dict[str, str]) -> None:
        snapshot = self.watch.state.snapshot(TREE, now_ms=_now_ms())
        for place in snapshot.nodes:
            if kept.get(place.name, ask.uid) == ask.uid and fits(ask.requests, snapshot.free(place)):
                bound = msgspec.structs.replace(ask, node=place.name, started_ms=_now_ms(), unschedulable_ms=None)
                self.watch.put(bound)
                return


def _now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)


TREE = tree({"prod": queue("4", delay_ms=1), "test": queue("4", delay_ms=1), "lab": queue("2", delay_ms=1)})


@pytest.mark.parametrize("min_run_s", [0, 10, 60])
def test_recreated_pods_and_claims_come_to_rest(min_run_s: int) -> None:
    """Three queues that all want more than there is: as many evictions as guarantees need, then none for minutes."""
    add_cluster(TREE, min_run_s=min_run_s)
    watch = Watch(*(node(f"n{number}", 2) for number in range(5)))
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        watch.put([pod(f"test-{n}", queue="test", node=f"n{n // 2}", app="test", started_ms=0) for n in range(10)])
        for name in ("prod", "lab"):
            asks = (pod(f"{name}-{n}", queue=name, app=name, unschedulable_ms=_now_ms()) for n in range(6))
            watch.put(*asks)
        life, counts = Life(watch), list[int]()
        for _ in range(30):
            life.turn()
            clock.shift(timedelta(seconds=5))
            counts.append(len(watch.actuator.evicted))
    assert counts[-1] == 6  # Test gives what is beyond its four cores: four to Prod, two to Lab
    assert counts[-1] == counts[10 + min_run_s // 5]
    holding = [one.queue_label for one in watch.state.pods.values() if one.node is not None]
    assert {name: holding.count(name) for name in ("prod", "lab", "test")} == {"prod": 4, "lab": 2, "test": 4}


def test_a_pod_that_has_only_just_begun_is_no_victim(cluster: Cluster, watch: Watch) -> None:
    """It becomes one when it has run for long enough; others go before."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        watch.put([msgspec.structs.replace(one, started_ms=_now_ms()) for one in watch.state.pods.values() if one.node])
        for seconds, evictions in ((0, 0), (9, 0), (1, 1)):
            clock.shift(seconds)
            passes.run_pass(
                cluster=Cluster.objects.select_related("hierarchy__current").get(pk=cluster.pk), watch=watch
            )
            assert len(watch.actuator.evicted) == evictions
    reasons = Decision.objects.order_by("pk").values_list("reason", flat=True)
    assert list(reasons) == ["no-candidates", "below-guarantee"]
