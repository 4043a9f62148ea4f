"""Beside the real Volcano: what queues use and deserve, who waits, and each pod that it reclaims."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from kubernetes.utils import parse_quantity

from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.peers import binaries
from tests.peers.peer import kubelet
from tests.peers.volcanos import Volcano, volcano
from tests.waiting import wait_for

pytestmark = pytest.mark.suite("peers")
QUEUES = ("research", "serving")


@pytest.fixture(scope="module")
def real(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Volcano]:
    """Serving uses all eight cores, and more of its work waits."""
    with (
        ControlPlane(tmp_path_factory.mktemp("volcano")) as plane,
        kubelet(plane),
        volcano(plane, product, binaries.source("volcano")) as found,
    ):
        found.nodes(1)
        for namespace in QUEUES:
            found.kubectl("create", "namespace", namespace)
        found.job("serving", "api", 10)
        wait_for(lambda: found.running("serving") == 8, "Serving to run")
        found.connect()
        yield found


def leaf(found: Volcano, name: str) -> dict[str, Any]:
    """A queue as the product has it."""
    return next(one for path, one in found.queues().items() if path.rpartition(".")[2] == name)


def cores(amount: str | None) -> Fraction:
    return Fraction(parse_quantity(amount or "0"))


def volcanos(found: Volcano) -> list[int]:
    """What Volcano itself did, as far as it is recorded."""
    return [one["id"] for one in found.product.decisions("volcano") if one["source"] == "volcano"]


def test_its_own_queues_are_the_tree(real: Volcano) -> None:
    """Those that it made itself, too; by their shares, as Volcano decides."""
    paths = {path for path, one in real.queues().items() if one["leaf"]}
    assert paths == {"root.default", "root.research", "root.serving"}
    assert real.product.api("/hierarchies/volcano/revisions/1")["revision"]["policy"] == "deserved"


@pytest.mark.parametrize("name", QUEUES)
def test_what_a_queue_uses_is_what_volcano_counts(real: Volcano, name: str) -> None:
    def both() -> tuple[Fraction, Fraction]:
        theirs = real.their_queues()[name]["status"].get("allocated", {})
        ours = leaf(real, name)["resources"].get("cpu", {})
        return cores(ours.get("used")), cores(theirs.get("cpu"))

    wait_for(lambda: (pair := both())[0] == pair[1], f"the same cores of {name}")


def test_each_deserves_what_volcano_says(real: Volcano) -> None:
    """Serving all eight cores while research asks for none, later four."""
    wait_for(lambda: leaf(real, "serving")["resources"]["cpu"]["deserved"] == "8", "all of it")
    wait_for(lambda: real.deserved("serving") == 8_000, "Volcano to say so")


def test_pods_without_room_wait(real: Volcano) -> None:
    wait_for(lambda: leaf(real, "serving")["pending_pods"] == 2, "two that wait")


def test_a_reclaim_is_recorded_with_its_victims_and_decided_again(real: Volcano) -> None:
    """Research deserves half of the cores, and gets four of them; which pods go for it is chance."""
    real.job("research", "study", 4, least=4)
    wait_for(lambda: real.running("research") == 4, "Volcano to reclaim", 120)
    whole = [real.product.api(f"/decisions/{pk}") for pk in wait_for(lambda: volcanos(real), "a decision")]
    assert all(v["name"].startswith("api-main-") for one in whole for v in one["victims"])
    for one in whole:
        said = " ".join(one["replay_sentences"])
        assert "gives the same" in said
        assert "of the queue research, which is below its deserved share" in said
        assert "by the rules of Volcano" in said
    assert sum(len(one["victims"]) for one in whole) == 4
    for name in QUEUES:
        wait_for(lambda name=name: real.deserved(name) == 4_000, "Volcano to say what is deserved")  # type: ignore[misc]
        wait_for(lambda name=name: leaf(real, name)["resources"]["cpu"]["deserved"] == "4", "the same")  # type: ignore[misc]


def test_a_restart_changes_nothing_and_records_nothing_twice(real: Volcano) -> None:
    """It reads its queues and jobs anew, and takes nothing from who is at what it deserves."""
    before = volcanos(real)
    real.restart()
    real.job("research", "late", 2, least=2)
    wait_for(lambda: leaf(real, "research")["pending_pods"] == 2, "the late job to wait")
    real.kubectl("-n", "serving", "delete", "jobs.batch.volcano.sh", "api")
    wait_for(lambda: real.running("research") == 6, "Volcano to be back")
    wait_for(lambda: cores(leaf(real, "research")["resources"]["cpu"]["used"]) == 6, "six cores of research")
    assert volcanos(real) == before
