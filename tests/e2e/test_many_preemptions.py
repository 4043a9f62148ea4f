"""Many preemptions by a cluster's own scheduler while our worker dies twice: none is lost, none told twice."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cluster.doubles import Simulated, simulate
from tests.e2e.manifests import queues
from tests.e2e.product import Product
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.suite("preemptions")]

PREEMPTIONS = 5_000
VICTIMS_EACH = 2
SEEN = 20
"""Every so-manieth preemption is of pods that are there; of the others only the Events are left."""

Told = dict[str, set[str]]
"""An ask's uid -> the names of its victims."""


@pytest.fixture
def api(product: Product, tmp_path: Path) -> Iterator[Simulated]:
    """A cluster whose API server answers, and in which nobody lives; the product observes it until the test ends."""
    with simulate() as simulated:
        config = tmp_path / "kubeconfig"
        config.write_text(_kubeconfig(simulated.address))
        simulated.add_node()
        product.manage("import_queues", "many", str(queues(tmp_path, prod=4, test=4)), "--reason", "test")
        product.manage("add_cluster", "many", "--hierarchy", "many", "--kubeconfig", str(config))
        wait_for(lambda: (product.api("/clusters/many") or {}).get("last_pass"), "The first pass")
        yield simulated
        product.forget("many")


def _kubeconfig(address: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": address}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        }
    )


def preempt(api: Simulated, number: int) -> tuple[str, set[str]]:
    """What kube-scheduler leaves of one preemption: the victims go, and an Event of each stays."""
    ask, names = f"ask-{number}", {f"victim-{number}-{each}" for each in range(VICTIMS_EACH)}
    for name in names:
        there = number % SEEN == 0
        uid = add_victim(api, name) if there else f"uid-{name}"
        tell(api, name, uid, ask)
        if there:
            api.call(api.store.remove, "pods", "default", name)
    return ask, names


def add_victim(api: Simulated, name: str) -> str:
    """A pod that is told to go; its uid."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    told = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "lastTransitionTime": now}
    pod = api.add_pod(name, node="n1")
    api.change("pods", "default", name, lambda pod: pod["status"].update(conditions=[told]))
    return str(pod["metadata"]["uid"])


def tell(api: Simulated, name: str, uid: str, ask: str) -> None:
    """kube-scheduler's Event."""
    event = {
        "metadata": {"name": f"{name}.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name, "uid": uid},
        "reason": "Preempted",
        "action": "Preempting",
        "message": f"Preempted by pod {ask} on node n1",
        "eventTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-1",
    }
    api.create("events", event)


def recorded(product: Product) -> list[tuple[int, str, str]]:
    """Decision, ask's uid and name of every victim that is stored."""
    query = (
        "select d.id, d.ask_uid, v.name from history_victim v join history_decision d on d.id = v.decision_id"
        " join clusters_cluster c on c.id = d.cluster_id where c.name = 'many' and d.source = 'kube-scheduler'"
    )
    return [tuple(row.values()) for row in product.store.rows(query)]


def test_none_of_many_preemptions_is_lost(product: Product, api: Simulated) -> None:
    """Killed in the middle of taking them down, and again; what happened meanwhile is told by the Events."""
    done: Told = {}
    numbers = itertools.count()
    for part in range(3):
        before = len(recorded(product))
        done.update(preempt(api, number) for number in itertools.islice(numbers, PREEMPTIONS // 3 + 1))
        wait_for(lambda before=before: len(recorded(product)) > before, "The first of them")
        if part < 2:
            product.kill_engine()
    expected = {(ask, name) for ask, names in done.items() for name in names}
    wait_for(lambda: len(recorded(product)) >= len(expected), "All of them", 300)
    found = recorded(product)
    assert {(ask, name) for _, ask, name in found} == expected
    assert len(found) == len(expected) >= PREEMPTIONS * VICTIMS_EACH
    assert len({decision for decision, _, _ in found}) == len(done)
