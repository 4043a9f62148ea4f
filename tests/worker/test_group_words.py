"""Whatever is shown and said of a decision for a group names the group, and never means one pending pod."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult, OperationOutcome, Result
from engine.model.objects import Pod
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.services.hierarchies import Terms
from tests.builders import ask, node, pod, pod_group, queue, tree
from tests.pages import rows
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.test_observed import event, going
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

ONE_POD = re.compile(
    r"\b(the|another|a) pending pod\b|the pod is pending|what the pod requests|for this pod|"
    r"make this pod|(?<!它的)待调度 Pod|该 Pod 待调度|此 Pod 的上一个决策",
    re.IGNORECASE,
)
TREE = tree({"prod": queue("6", delay_ms=1), "test": queue(delay_ms=1)})


def scene(*more: object, gang: int = 3, **settings: object) -> Watch:
    """Two nodes full of pods of Test; a gang of Prod waits, which needs all of its pods at once."""
    watch = Watch(
        [node("n1", 4), node("n2", 2)],
        [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)],
        pod("test-2", queue="test", node="n2", cpu=2),
        pod_group("gang", at_once=gang, priority=10),
    )
    watch.put([member(number, **settings) for number in range(gang)], *more)
    return watch


def member(number: int, **settings: object) -> Pod:
    """A pending pod of the gang."""
    told = {"queue": "prod", "cpu": 2, "priority": 10, "scheduling_group": "gang", "app": "train", "created_ms": number}
    return ask(f"gang-{number}", **{**told, **settings})


def bound(cluster: Cluster, watch: Watch) -> None:
    """It is carried out, and starts."""
    run(cluster, watch)
    watch.gone("test-0", "test-1", "test-2")
    for name, at in (("gang-0", "n1"), ("gang-1", "n1"), ("gang-2", "n2")):
        watch.bound(name, at)
    run(cluster, watch)


def begun(cluster: Cluster, watch: Watch) -> None:
    """It is being carried out."""
    run(cluster, watch)


def bound_elsewhere(cluster: Cluster, watch: Watch) -> None:
    """One of its pods runs on another node."""
    run(cluster, watch)
    watch.put(node("n3", 4))
    watch.bound("gang-1", "n3")
    run(cluster, watch)


def deleted(cluster: Cluster, watch: Watch) -> None:
    """One of its pods is deleted."""
    run(cluster, watch)
    watch.gone("gang-2")
    run(cluster, watch)


def late(cluster: Cluster, watch: Watch) -> None:
    """Its time is up, and it cools down."""
    run(cluster, watch)
    with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False):
        run(cluster, watch, times=2)


def lost_a_node(cluster: Cluster, watch: Watch) -> None:
    """One of its nodes is gone."""
    run(cluster, watch)
    del watch.state.nodes["n2"]
    run(cluster, watch)


def taken(cluster: Cluster, watch: Watch) -> None:
    """Others have reserved one of its nodes."""
    watch.actuator.reserving_on["n2"] = Result(outcome=OperationOutcome.TAKEN, sentence="node n2 is taken")
    run(cluster, watch)


def refused(cluster: Cluster, watch: Watch) -> None:
    """The API server does not let a victim go."""
    watch.actuator.judging["test-2"] = EvictionResult(outcome=EvictionOutcome.REFUSED, sentence="no")
    run(cluster, watch)


def paused(cluster: Cluster, watch: Watch) -> None:
    """Safeguards hold it back."""
    Cluster.objects.update(enforce_queues=["root.other"])
    run(cluster, watch)


def limited(cluster: Cluster, watch: Watch) -> None:
    """It needs more nodes than may be reserved."""
    Cluster.objects.update(reserved_nodes=1)
    run(cluster, watch)


def told_only(cluster: Cluster, watch: Watch) -> None:
    """Nothing is carried out."""
    Cluster.objects.update(mode="advise")
    run(cluster, watch)


def too_large(cluster: Cluster, watch: Watch) -> None:
    """No eviction makes room for one of its pods."""
    watch.put(member(2, cpu=9))
    run(cluster, watch)


def above_guarantee(cluster: Cluster, watch: Watch) -> None:
    """Its queue uses what it is promised."""
    watch.put(node("n4", 8), pod("prod-0", queue="prod", node="n4", cpu=8))
    run(cluster, watch)


def gated(cluster: Cluster, watch: Watch) -> None:
    """One of its pods has scheduling gates."""
    watch.put(member(3, gated=True))
    run(cluster, watch)


def picky(cluster: Cluster, watch: Watch) -> None:
    """Its pods may not run on one of the nodes, and one of these can't be preempted from."""
    watch.put(msgspec.structs.replace(watch.state.nodes["n2"], unschedulable=True))
    watch.put([member(number, node_selector={"disk": "ssd"}) for number in range(3)])
    run(cluster, watch)


ENFORCED = (bound, begun, bound_elsewhere, deleted, late, lost_a_node, taken, refused, paused, limited, told_only)
WAITING = (too_large, above_guarantee, gated, picky)


def observed(ending: str) -> Decision:
    """kube-scheduler preempted for the gang, and it came to an end."""
    cluster = add_cluster(TREE, mode="observe")
    told = {"ask": "gang", "ask_kind": "PodGroup", "node": "cluster"}
    victims = [going("b-0", queue="test"), msgspec.structs.replace(going("b-1", queue="test"), node="n2")]
    watch = scene(victims, event("b-0", **told), event("b-1", **told))
    run(cluster, watch)
    watch.gone("b-0", "b-1")
    if ending == "pod-gone":
        watch.gone("gang-0", "gang-1", "gang-2")
    if ending == "capacity-taken":
        Decision.objects.exclude(source="engine").update(deadline=timezone.now() - timedelta(seconds=1))
    run(cluster, watch)
    row = Decision.objects.get(source="kube-scheduler")
    assert row.ending == ending
    return row


def visible(html: str) -> str:
    """What people read of a page's own part."""
    main = html.partition("<main")[2].partition("</main>")[0] or html
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())


def found(text: str) -> list[str]:
    """The places that mean one pending pod."""
    return [text[max(0, match.start() - 60) : match.end() + 40] for match in ONE_POD.finditer(text)]


@pytest.fixture(params=["en", "zh-hans"])
def shown(request: pytest.FixtureRequest, client: Client) -> Callable[[Decision], Iterator[str]]:
    """Everything that a site shows of a decision in a language, to who sees everything and to tenants."""
    people = [
        rows.user("ada", User.Role.OPERATOR),
        rows.tenant_user("paul", "root.prod", ()),
        rows.tenant_user("tina", "root.test", ()),
    ]

    def pages(row: Decision) -> Iterator[str]:
        at = f"/clusters/{row.cluster.name}"
        pods = [f"gang-{number}" for number in range(3)] + [one.name for one in row.victims.all()]
        paths = [f"{at}/decisions/{row.pk}/", f"{at}/decisions/{row.pk}/?otherwise=1"]
        paths += [f"/api/v1{at}/decisions/{row.pk}", f"/api/v1{at}/decisions?outcome={row.outcome}"]
        paths += [f"/pods/{row.cluster.name}/ns/{name}/?decision={row.pk}" for name in pods]
        paths += [f"/pods/{row.cluster.name}/ns/{name}/waiting/" for name in pods]
        for person in people:
            client.force_login(person)
            for path in paths:
                answer = client.get(path, headers={"accept-language": request.param}, follow=True)
                if answer.status_code == 200:
                    yield visible(answer.content.decode())

    return pages


def newest() -> Decision:
    """The last decision about the gang."""
    return Decision.objects.filter(ask_group="gang").latest("pk")


@pytest.mark.parametrize("happens", [*ENFORCED, *WAITING])
def test_what_is_shown_of_a_gang_names_the_gang(
    happens: Callable[[Cluster, Watch], None], shown: Callable[[Decision], Iterator[str]]
) -> None:
    """Each decision about it, with all that became of it."""
    watch = scene()
    happens(add_cluster(TREE), watch)
    for row in Decision.objects.filter(ask_group="gang"):
        texts = list(shown(row))
        assert len(texts) > 3
        assert [place for text in texts for place in found(text)] == []
    assert [place for _name, text in watch.actuator.said for place in found(text)] == []


@pytest.mark.parametrize("happens", [begun, told_only, too_large, gated])
def test_what_is_shown_of_a_group_by_priority_names_the_group(
    happens: Callable[[Cluster, Watch], None], shown: Callable[[Decision], Iterator[str]]
) -> None:
    """As kube-scheduler 1.37 would decide."""
    cluster = add_cluster(TREE, terms=Terms(policy="priority", dialect="kube-scheduler-1.37"))
    happens(cluster, scene())
    assert [place for text in shown(newest()) for place in found(text)] == []


@pytest.mark.parametrize("ending", ["pod-gone", "capacity-taken"])
def test_what_is_shown_of_a_preemption_by_kube_scheduler_for_a_group_names_it(
    ending: str, shown: Callable[[Decision], Iterator[str]]
) -> None:
    """Also why its victims went in vain."""
    assert [place for text in shown(observed(ending)) for place in found(text)] == []
