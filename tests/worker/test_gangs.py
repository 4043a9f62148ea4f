"""Decisions for groups of pods are shown, and held back in Enforce: nothing reserves several nodes at once yet."""

import pytest
from django.test import Client

from engine.model.objects import Pod
from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import Decision
from tests.builders import ask, node, pod, pod_group
from tests.pages import rows
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def crowd(*, whole: bool = False) -> list[Pod]:
    """Test holds all of two nodes with two cores each."""
    return [
        pod(f"test-{on}-{each}", queue="test", node=on, app="test", scheduling_group="ring" if whole else "")
        for on in ("n1", "n2")
        for each in "ab"
    ]


def gang(count: int) -> list[Pod]:
    """Members of a gang of Prod, each as large as half a node."""
    return [ask(f"gang-{number}", queue="prod", app="gang", scheduling_group="gang") for number in range(count)]


def test_a_gang_is_shown_and_nothing_is_evicted_for_it(client: Client) -> None:
    """The decision has all of its pods and nodes, and the word ``group``; its page renders."""
    cluster = add_cluster()
    watch = Watch(node("n1", 2), node("n2", 2), crowd(), gang(2), pod_group("gang", at_once=2))
    run(cluster, watch, times=2)
    row = preemption()
    assert (row.state, row.hold, row.victims.count()) == (Decision.State.ON_HOLD, "group", 2)
    assert watch.actuator.did == []
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    page = client.get(f"/clusters/east/decisions/{row.pk}/").content.decode()
    for words in (
        "decisions for groups of pods",
        "2 pods of the group get nodes",
        "No queue drops below its guarantee",
    ):
        assert words in page


def test_a_single_pod_for_which_a_whole_group_goes_is_held_as_well(client: Client) -> None:
    """The victims are on two nodes; the page says which group goes whole."""
    cluster = add_cluster()
    ring = [pod(f"ring-{on}", queue="test", node=on, cpu=2, scheduling_group="ring") for on in ("n1", "n2")]
    watch = Watch(node("n1", 2), node("n2", 2), ring, ask("prod-0", queue="prod", cpu=2), pod_group("ring", whole=True))
    run(cluster, watch)
    assert Decision.objects.exclude(hold="").count() == 0  # Test would be left without its guarantee
    watch.put([pod(f"test-{number}", queue="test", node="n3") for number in range(2)], node("n3", 2))
    run(cluster, watch)
    assert (preemption().hold, preemption().victims.count()) == ("group", 2)
    assert watch.actuator.did == []
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    assert (
        "evicted with all of its 2 pods" in client.get(f"/clusters/east/decisions/{preemption().pk}/").content.decode()
    )
