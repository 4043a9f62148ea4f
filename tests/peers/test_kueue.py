"""Beside the real Kueue: the same quotas and pending work, its own words, and each workload that it preempts."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from kubernetes.utils import parse_quantity

from engine.tree.lint import errors
from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.engine.linted import under
from tests.peers import binaries
from tests.peers.kueue_documents import refusal, trees
from tests.peers.kueues import Kueue, kueue, ready, works
from tests.peers.peer import kubelet
from tests.waiting import wait_for

pytestmark = pytest.mark.suite("peers")
OBJECTS = (Path(__file__).parent / "kueue" / "objects.yaml").read_text()
QUEUES = {"research": "root.research", "serving": "root.serving"}


@pytest.fixture(scope="module")
def real(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Serving has borrowed all that research may lend, and more of its work waits."""
    with (
        ControlPlane(tmp_path_factory.mktemp("kueue")) as plane,
        kubelet(plane),
        kueue(plane, product, binaries.source("kueue")) as found,
    ):
        found.nodes(1, cpu="64", memory="256Gi")
        found.apply(priority_class("low", 10), priority_class("mid", 100))
        for namespace in QUEUES:
            found.kubectl("create", "namespace", namespace)
        ready(found)
        for name in ("api-a", "api-b", "api-c"):
            found.job("serving", name, 4, "low")
        wait_for(lambda: found.admitted("serving", "api-c"), "Serving to borrow")
        found.job("serving", "api-d", 8, "low")
        found.apply(_stray("serving"))
        found.connect("apply-tree")
        yield found


def priority_class(name: str, value: int) -> dict[str, Any]:
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


def _stray(namespace: str) -> dict[str, Any]:
    """A pod that Kueue has nothing to do with, beside those of its jobs."""
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "1"}}}
    meta = {"name": "stray", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def leaf(found: Kueue, name: str) -> dict[str, Any]:
    """A ClusterQueue as the product has it."""
    return next(one for path, one in found.queues().items() if path.rpartition(".")[2] == name)


def _waiting(found: Kueue, name: str) -> tuple[int, int]:
    """How much waits in a queue, as the product has it and as Kueue says."""
    return leaf(found, name)["pending_pods"], found.their_queues()[name]["status"]["pendingWorkloads"]


def cores(amount: str | None) -> Fraction:
    return Fraction(parse_quantity(amount or "0"))


@pytest.mark.parametrize("name", sorted(QUEUES))
def test_what_a_queue_uses_is_what_kueue_counts(real: Kueue, name: str) -> None:
    """Of what it is guaranteed, its nominal quota; a pod that it does not manage counts for nobody."""

    def both() -> tuple[Fraction, Fraction]:
        status = real.their_queues()[name]["status"]
        (flavor,) = status["flavorsUsage"]
        theirs = next(one for one in flavor["resources"] if one["name"] == "cpu")
        return cores(leaf(real, name)["resources"]["cpu"]["used"]), cores(theirs["total"])

    wait_for(lambda: (pair := both())[0] == pair[1], f"the same cores of {name}")
    assert cores(leaf(real, name)["resources"]["cpu"]["guaranteed"]) == 8


def test_as_much_work_waits_as_kueue_says(real: Kueue) -> None:
    """Workloads without quota, of which there is no pod yet."""
    wait_for(lambda: _waiting(real, "serving") == (1, 1), "one that waits")


def test_a_reclaim_is_recorded_with_its_victims_and_decided_again_to_the_same_answer(real: Kueue) -> None:
    """Research takes back what it lent; which of Kueue's rules it was is told, and by which version's."""
    real.job("research", "study", 4, "low")
    wait_for(lambda: real.admitted("research", "study"), "Research's own job")
    real.job("research", "thesis", 4, "mid")
    found = wait_for(
        lambda: [one for one in real.product.decisions("kueue") if one["source"] == "kueue"], "a decision", 120
    )
    whole = real.product.api(f"/decisions/{found[0]['id']}")
    assert {one["name"].rpartition("-")[0] for one in whole["victims"]} <= {"api-a", "api-b", "api-c"}
    assert whole["victims"]
    said = " ".join(whole["replay_sentences"])
    assert "gives the same" in said
    assert "by the rules of Kueue 0.19" in said


def test_a_restart_changes_nothing_and_records_nothing_twice(real: Kueue) -> None:
    """It reads its queues and workloads anew."""
    before = [one["id"] for one in real.product.decisions("kueue")]
    real.restart()
    wait_for(lambda: works(lambda: real.job("research", "late", 8, "low")), "Kueue's webhooks")
    wait_for(lambda: real.their_queues()["research"]["status"]["pendingWorkloads"] == 1, "Kueue to be back")
    wait_for(lambda: leaf(real, "research")["pending_pods"] == 1, "the late job to wait")
    wait_for(lambda: (pair := _waiting(real, "serving"))[0] == pair[1], "as much to wait as it says")
    assert [one["id"] for one in real.product.decisions("kueue")] == before


def test_of_trees_at_random_lint_refuses_those_that_it_does(real: Kueue) -> None:
    """Before they are published: nothing that Kueue would not take is ever sent to it."""
    answers = [(refusal(real, tree), errors(tree, under("cohort"), form="kueue")) for tree in trees(20261128, 60)]
    assert [(said, found) for said, found in answers if bool(said) != bool(found)] == []
    assert 10 < sum(bool(said) for said, _found in answers) < 50


def test_its_queues_are_in_force_and_in_step(real: Kueue) -> None:
    """The tree came from its own objects."""
    wait_for(lambda: (real.copy()["effect"], real.copy()["sync_status"]) == ("in-force", "in-step"), "in use")


def test_a_larger_quota_is_written_to_it_once_others_fields_are_taken_over_and_it_uses_it(
    real: Kueue, tmp_path: Path
) -> None:
    """First it is told whose fields they are: nothing is written over what kubectl manages."""
    document = tmp_path / "queues.yaml"
    document.write_text(OBJECTS.replace('nominalQuota: "8", lendingLimit', 'nominalQuota: "12", lendingLimit'))
    real.product.manage("import_queues", "kueue", str(document), "--reason", "more serving")
    with pytest.raises(AssertionError, match="others manage these fields") as told:
        real.product.manage("apply_tree", "kueue", "--reason", "more serving")
    number = str(told.value).rpartition("--take-over ")[2].split()[0]
    said = real.product.manage("apply_tree", "kueue", "--reason", "more serving", "--take-over", number)
    assert "Kueue uses it." in said
    (group,) = real.their_queues()["serving"]["spec"]["resourceGroups"]
    assert group["flavors"][0]["resources"][0]["nominalQuota"] == "12"
    wait_for(lambda: cores(leaf(real, "serving")["resources"]["cpu"]["guaranteed"]) == 12, "the larger guarantee")
    wait_for(lambda: (real.copy()["effect"], real.copy()["sync_status"]) == ("in-force", "in-step"), "in step again")
