"""A whole group of running pods is evicted for a single pod, and the pages of such decisions and of gangs render."""

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.services.hierarchies import Terms
from tests.builders import ask, node, pod, pod_group, queue, tree
from tests.pages import rows
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def page(client: Client, row: Decision) -> str:
    """The page of a decision, for somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    return client.get(f"/clusters/east/decisions/{row.pk}/").content.decode()


def test_the_page_of_a_gang_has_its_pods_and_what_was_checked(client: Client) -> None:
    """Each pod gets a node, and each victim runs on one of these."""
    old = [pod(f"test-{on}-{each}", queue="test", node=on, app="test") for on in ("n1", "n2") for each in "ab"]
    gang = [ask(f"gang-{number}", queue="prod", app="gang", scheduling_group="gang") for number in range(2)]
    cluster = add_cluster()
    run(cluster, Watch(node("n1", 2), node("n2", 2), old, gang, pod_group("gang", at_once=2)))
    told = (
        "2 pods of the group get nodes",
        "No queue drops below its guarantee",
        "runs on a node that a pod of the pending group gets",
    )
    shown = page(client, preemption())
    assert [words for words in told if words not in shown] == []


def test_so_it_has_where_queues_give_back_what_they_do_not_deserve(client: Client) -> None:
    """A whole group of test goes for a gang, once its queue was notified; then the page has both."""
    shape = tree({"prod": queue("4", delay_ms=1), "test": queue(delay_ms=1)})
    cluster = add_cluster(shape, terms=Terms("deserved", "arbitrator"))
    ring = [pod(f"ring-{on}", queue="test", node=on, cpu=2, scheduling_group="ring") for on in ("n1", "n2")]
    gang = [ask(f"gang-{number}", queue="prod", cpu=2, scheduling_group="gang") for number in range(2)]
    groups = pod_group("gang", at_once=2), pod_group("ring", whole=True)
    run(cluster, Watch(node("n1", 2), node("n2", 2), ring, gang, *groups), times=2)
    told = (
        "2 pods of the group get nodes",
        "To start group gang of prod, 2 pods of test",
        "evicted with all of its 2 pods",
        "Victims’ queues use more than their deserved share",
        "runs on a node that a pod of the pending group gets",
    )
    shown = page(client, preemption())
    assert [words for words in told if words not in shown] == []
    waited = Decision.objects.filter(reason="grace").earliest("pk")
    assert "test must give back" in client.get(f"/clusters/east/decisions/{waited.pk}/").content.decode()


def test_a_whole_group_is_evicted_for_a_single_pod(client: Client) -> None:
    """With its pods on other nodes; nothing happens while its queue would be left without its guarantee."""
    cluster = add_cluster()
    ring = [pod(f"ring-{on}", queue="test", node=on, cpu=2, scheduling_group="ring") for on in ("n1", "n2")]
    watch = Watch(node("n1", 2), node("n2", 2), ring, ask("prod-0", queue="prod", cpu=2), pod_group("ring", whole=True))
    run(cluster, watch)
    assert not Decision.objects.filter(outcome="preempt").exists()
    watch.put([pod(f"test-{number}", queue="test", node="n3", priority=9) for number in range(2)], node("n3", 2))
    run(cluster, watch)
    assert sorted(watch.actuator.evicted) == ["ring-n1", "ring-n2"]
    assert [call for call in watch.actuator.did if call.startswith("reserve")] == ["reserve n1 prod-0"]
    assert "evicted with all of its 2 pods" in page(client, preemption())
