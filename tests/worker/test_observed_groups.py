"""What kube-scheduler evicted for a group is one decision, which ends once enough pods of the group are bound."""

from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone

from engine.observation.evictions import decode
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, pod_group
from tests.worker.conftest import add_cluster
from tests.worker.test_observed import TREE, event, going, now_ms, observed
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    return add_cluster(TREE, mode="observe")


def test_what_goes_for_a_group_over_several_passes_is_one_decision_on_several_nodes(cluster: Cluster):
    """News of its victims come node by node."""
    told = {"ask": "gang", "ask_kind": "PodGroup", "node": "cluster"}
    first, second = going("b-0", queue="b"), msgspec.structs.replace(going("b-1", queue="b"), node="n2")
    watch = Watch(node("n1", 4), node("n2", 4), first, event("b-0", **told))
    run_pass(cluster=cluster, watch=watch)
    assert observed().node == "n1"
    watch.put(second, event("b-1", **told))
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.node, row.ask_uid, row.victims.count()) == ("", "uid-gang", 2)
    seen = decode(row.document)
    assert (seen.ask and seen.ask.name, seen.ask_kind) == ("gang", "PodGroup")
    assert (row.ask_group, row.ask_name) == ("gang", "")


@pytest.fixture
def gang(cluster: Cluster) -> Watch:
    """kube-scheduler has just preempted a pod on each of two nodes for a group of three, which needs two."""
    told = {"ask": "gang", "ask_kind": "PodGroup", "node": "cluster"}
    victims = [going("b-0", queue="b"), msgspec.structs.replace(going("b-1", queue="b"), node="n2")]
    members = [ask(f"gang-{number}", queue="c", priority=1000, scheduling_group="gang") for number in range(3)]
    group = pod_group("gang", at_once=2, priority=1000)
    watch = Watch(node("n1", 4), node("n2", 4), victims, members, group)
    watch.put(event("b-0", **told), event("b-1", **told))
    run_pass(cluster=cluster, watch=watch)
    assert (observed().ask_group, observed().state) == ("gang", "waiting")
    return watch


def test_what_goes_for_a_group_ends_when_enough_of_its_pods_are_bound(cluster: Cluster, gang: Watch):
    """Not with its victims."""
    gang.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=gang)
    assert observed().state == "waiting"
    gang.bound("gang-0", "n1")
    run_pass(cluster=cluster, watch=gang)
    assert observed().state == "waiting"
    gang.bound("gang-1", "n2")
    run_pass(cluster=cluster, watch=gang)
    assert (observed().state, observed().ending) == ("closed", "bound")
    assert observed().steps.get(kind="closed").note == "n1, n2"


def test_pods_of_a_group_that_ran_before_do_not_end_what_goes_for_more_of_them(cluster: Cluster, gang: Watch):
    """Enough of them have a node all the time."""
    running = {"scheduling_group": "gang", "queue": "c", "started_ms": now_ms(600)}
    gang.put(pod("gang-8", node="n1", **running), pod("gang-9", node="n2", **running))
    gang.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=gang)
    assert observed().state == "waiting"
    gang.bound("gang-0", "n1")
    run_pass(cluster=cluster, watch=gang)
    assert (observed().state, observed().ending) == ("closed", "bound")


def test_a_group_of_which_too_few_pods_are_left_is_given_up(cluster: Cluster, gang: Watch):
    gang.gone("gang-0")
    run_pass(cluster=cluster, watch=gang)
    assert observed().state == "waiting"
    gang.gone("gang-1")
    run_pass(cluster=cluster, watch=gang)
    assert (observed().state, observed().ending) == ("closed", "pod-gone")


def test_a_group_that_is_deleted_is_given_up(cluster: Cluster, gang: Watch):
    gang.state.scheduling_groups.clear()
    run_pass(cluster=cluster, watch=gang)
    assert (observed().state, observed().ending) == ("closed", "pod-gone")


def test_a_group_that_gets_nothing_in_time_closes_it(cluster: Cluster, gang: Watch):
    """Who took the room is looked for on all nodes where room was made."""
    gang.gone("b-0", "b-1")
    gang.put(pod("vip", priority=2000, started_ms=now_ms(), node="n2", queue="c"))
    Decision.objects.exclude(source="engine").update(deadline=timezone.now() - timedelta(seconds=1))
    run_pass(cluster=cluster, watch=gang)
    assert (observed().state, observed().ending) == ("closed", "capacity-taken")
    assert observed().steps.get(kind="closed").note == "vip (2000)"
