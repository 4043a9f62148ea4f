"""Enforce in a part of a cluster: there it acts, elsewhere it tells what it would do."""

import msgspec
import pytest
from django.core.exceptions import ValidationError

from engine.model.queue_tree import QueueTree
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.limits import change_limits
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.services.hierarchies import publish
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({f"{team}.{leaf}": queue(cpu) for team in ("red", "blue") for leaf, cpu in (("prod", "4"), ("test", "0"))})


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Enforce is limited to the red team."""
    return add_cluster(TREE, publish=True, enforce_queues=["root.red"])


@pytest.fixture
def watch() -> Watch:
    """Both teams want room from their tests."""
    made = []
    for team in ("red", "blue"):
        made += [
            node(f"n-{team}", 1, labels={"team": team}),
            pod(f"{team}-test", queue=f"{team}.test", namespace=team, node=f"n-{team}"),
            ask(f"{team}-prod", queue=f"{team}.prod", namespace=team, node_selector={"team": team}),
        ]
    return Watch(made)


def held() -> dict[str, str]:
    """Ask -> what holds its decision back."""
    return dict(Decision.objects.filter(outcome="preempt").values_list("ask_name", "hold"))


def test_inside_it_acts_and_outside_it_tells(cluster: Cluster, watch: Watch) -> None:
    """By an Event on the pending pod, as in advise."""
    run_pass(cluster=cluster, watch=watch)
    assert watch.actuator.evicted == ["red-test"]
    assert held() == {"red-prod": "", "blue-prod": "out-of-scope"}
    told = dict(watch.actuator.said)
    assert "would be evicted from n-blue" in told["blue-prod"]


def test_the_limit_stands_on_the_pages_of_the_cluster(cluster: Cluster, watch: Watch) -> None:
    """Also while nothing would be evicted: nobody is to believe that all of it is enforced."""
    run_pass(cluster=cluster, watch=watch)
    (hold,) = ClusterStatus.objects.get().holds
    assert (hold["interlock"], hold["reason"], hold["decisions"]) == ("out-of-scope", "root.red", 1)


def test_without_a_limit_it_acts_everywhere(cluster: Cluster, watch: Watch) -> None:
    """As before there was one."""
    change_limits(cluster=cluster, values={"enforce_queues": []}, seen={}, actor=None, reason="it works")
    cluster.refresh_from_db()
    run_pass(cluster=cluster, watch=watch)
    assert sorted(watch.actuator.evicted) == ["blue-test", "red-test"]


def test_in_advise_all_is_told_alike(cluster: Cluster, watch: Watch) -> None:
    """A limit of enforce is none of advice."""
    Cluster.objects.update(mode="advise")
    cluster.refresh_from_db()
    run_pass(cluster=cluster, watch=watch)
    assert held() == {"red-prod": "", "blue-prod": ""}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"enforce_queues": ["root.green"]}, "enforce_queues"),
        ({"enforce_queues": "root.red root.nobody"}, "enforce_queues"),
        ({"enforce_queues": [7]}, "enforce_queues"),
        ({"enforce_namespaces": ["a/b"]}, "enforce_namespaces"),
        ({"enforce_namespaces": [f"n-{number}" for number in range(201)]}, "enforce_namespaces"),
    ],
)
def test_what_is_no_place_is_refused_at_its_field(cluster: Cluster, values: dict[str, object], field: str) -> None:
    """Else enforce would act nowhere, and nobody would know why."""
    with pytest.raises(ValidationError) as told:
        change_limits(cluster=cluster, values=values, seen={}, actor=None, reason="typed")
    assert list(told.value.message_dict) == [field]


def test_a_queue_that_is_renamed_stays_within_it(cluster: Cluster) -> None:
    """What is enforced does not change by a new name."""
    publish(hierarchy=cluster.hierarchy, tree=renamed("root.red", "root.crimson"), author=None, reason="a new name")
    cluster.refresh_from_db()
    assert cluster.enforce_queues == ["root.crimson"]


def renamed(was: str, now: str) -> QueueTree:
    """The tree where a queue is called otherwise."""
    queues = [msgspec.structs.replace(one, path=path.replace(was, now)) for path, one in TREE.queues.items()]
    return QueueTree(msgspec.structs.replace(one, former_paths=(was,)) if one.path == now else one for one in queues)
