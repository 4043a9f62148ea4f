"""Gangs of YuniKorn and Volcano are decided, carried out and shown as gangs of Kubernetes are, with their kind."""

from typing import Any

import pytest
from django.test import Client

from engine.model.objects import YUNIKORN_SCHEDULER, Pod, PodGroup, TaskGroup
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Step, Victim
from tests.builders import ask, node, pod, queue, tree
from tests.pages import rows
from tests.worker.conftest import add_cluster
from tests.worker.execution_scenes import first, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

TASK_GROUPS = (TaskGroup("driver", 1), TaskGroup("executor", 2))
OF_VOLCANO = PodGroup(namespace="ns", name="train", queue="default", uid="uid-train", min_member=3)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is acted on: Prod has a guarantee, and Test has none."""
    return add_cluster(tree({"prod": queue("6", delay_ms=1), "test": queue(delay_ms=1)}))


def full_nodes(*objects: Any) -> Watch:
    """Two nodes full of pods of Test."""
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    return Watch([node("n1", 4), node("n2", 2)], pods, pod("test-2", queue="test", node="n2", cpu=2), *objects)


def placeholder(name: str, task_group: str) -> Pod:
    """A pending placeholder of application spark-1."""
    return ask(
        name,
        queue="prod",
        cpu=2,
        app="spark-1",
        scheduler=YUNIKORN_SCHEDULER,
        scheduling_group="yunikorn:spark-1",
        task_group=task_group,
        task_groups=TASK_GROUPS,
        hard_gang=True,
    )


def application() -> list[Pod]:
    """An application that waits: its first pod, and three placeholders."""
    driver = ask("driver", queue="prod", cpu=2, app="spark-1", scheduler=YUNIKORN_SCHEDULER, task_group="driver")
    executors = [placeholder(f"tg-executor-{number}", "executor") for number in range(2)]
    return [driver, placeholder("tg-driver", "driver"), *executors]


def workers() -> list[Pod]:
    """The pods of a PodGroup of Volcano."""
    named = {"scheduler": "volcano", "pod_group": "train", "scheduling_group": "volcano:train"}
    return [ask(f"train-{number}", queue="prod", cpu=2, app="train", **named) for number in range(3)]


@pytest.fixture
def reader(client: Client) -> Client:
    """Somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    return client


def seen(reader: Client, row: Decision, language: str = "en") -> str:
    """The page of a decision."""
    return reader.get(f"/clusters/east/decisions/{row.pk}/", headers={"accept-language": language}).content.decode()


def served(reader: Client, row: Decision) -> dict[str, Any]:
    """The decision as REST serves it."""
    found: dict[str, Any] = reader.get(f"/api/v1/decisions/{row.pk}").json()
    return found


def test_all_nodes_of_an_application_are_kept_and_it_ends_once_its_placeholders_run(cluster: Cluster) -> None:
    """Also if YuniKorn has already put its own pods in the places of some of them."""
    watch = full_nodes(*application())
    row = first(watch)
    assert (row.ask_group, row.state) == ("yunikorn:spark-1", Decision.State.WAITING)
    did = watch.actuator.did
    assert [call for call in did if call.startswith("reserve")] == [
        "reserve n1 tg-driver",
        "reserve n1 tg-executor-0",
        "reserve n2 tg-executor-1",
    ]
    assert sorted(watch.actuator.evicted) == ["test-0", "test-1", "test-2"]
    watch.gone("test-0", "test-1", "test-2")
    for name, on in (("tg-driver", "n1"), ("tg-executor-0", "n1"), ("tg-executor-1", "n2")):
        watch.bound(name, on)
    watch.gone("tg-driver")
    watch.bound("driver", "n1")
    row = run(watch)
    assert (row.state, row.ending) == (Decision.State.CLOSED, Decision.Ending.BOUND)
    assert list(row.steps.filter(kind=Step.Kind.RELEASED).values_list("note", flat=True)) == ["n1", "n2"]
    assert {victim.state for victim in row.victims.all()} == {Victim.State.EXITED}


def test_an_application_that_loses_a_placeholder_frees_all_nodes(cluster: Cluster) -> None:
    """As where they time out: the pods that went are counted as evicted in vain."""
    watch = full_nodes(*application())
    first(watch)
    watch.gone("tg-executor-1")
    run(watch)
    assert Decision.objects.filter(outcome="preempt").earliest("pk").ending == Decision.Ending.POD_GONE
    assert [call for call in watch.actuator.did if call.startswith("release")] == ["release n1", "release n2"]


def test_the_page_of_an_application_says_what_it_is(cluster: Cluster, reader: Client) -> None:
    row = first(full_nodes(*application()))
    shown = seen(reader, row)
    told = (
        "ns/spark-1</code>",
        "application of YuniKorn",
        "with the task groups driver (1), executor (2)",
        "the application fails",
        "3 pods of the group get nodes",
    )
    assert [words for words in told if words not in shown] == []
    assert "yunikorn:" not in shown
    assert "YuniKorn 的应用 spark-1" in seen(reader, row, "zh-hans")


def test_rest_says_what_it_is(cluster: Cluster, reader: Client) -> None:
    found = served(reader, first(full_nodes(*application())))
    pending, group = found["pending_pod"], found["group"]
    assert (pending["group"], pending["group_kind"]) == ("spark-1", "yunikorn")
    assert (group["kind"], group["name"], group["required_pods"], group["fails_on_timeout"]) == (
        "yunikorn",
        "spark-1",
        3,
        True,
    )
    assert group["task_groups"] == [{"name": "driver", "required_pods": 1}, {"name": "executor", "required_pods": 2}]
    assert (group["workload"], group["composite_groups"]) == ("", [])


def test_its_own_pods_wait_for_the_placeholders(cluster: Cluster, reader: Client) -> None:
    first(full_nodes(*application()))
    row = Decision.objects.get(ask_name="driver")
    assert (row.outcome, row.reason, row.ask_group) == ("not-eligible", "placeholder", "")
    assert "in the place of a placeholder of its application, such as tg-" in seen(reader, row)
    assert served(reader, row)["pending_pod"]["group_kind"] == ""


def test_a_pod_group_of_volcano_is_carried_out_and_shown(cluster: Cluster, reader: Client) -> None:
    watch = full_nodes(*workers(), OF_VOLCANO)
    row = first(watch)
    assert (row.ask_group, row.state) == ("volcano:train", Decision.State.WAITING)
    assert sorted(watch.actuator.evicted) == ["test-0", "test-1", "test-2"]
    assert "The group is a PodGroup of Volcano, which starts at least 3 of its pods at once." in seen(reader, row)
    assert served(reader, row)["group"]["kind"] == "volcano"


def test_it_is_not_decided_again_while_it_is_open(cluster: Cluster) -> None:
    """Nor by another pass that reads the same group."""
    watch = full_nodes(*workers(), OF_VOLCANO)
    first(watch)
    run(watch, times=2)
    assert Decision.objects.filter(outcome="preempt", ask_group="volcano:train").count() == 1
