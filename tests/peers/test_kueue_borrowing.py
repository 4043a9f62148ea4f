"""Beside the real Kueue, set to share fairly and not: what it takes for a workload that borrows itself."""

from collections.abc import Iterator

import pytest

from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.peers import binaries
from tests.peers.kueues import Kueue, kueue, ready
from tests.peers.peer import kubelet
from tests.peers.test_kueue import priority_class
from tests.waiting import wait_for

pytestmark = pytest.mark.suite("peers")
POLICIES = {"cohort": "InCohortReclaimWhileBorrowing", "fair-share": "InCohortFairSharing"}


@pytest.fixture(scope="module", params=POLICIES)
def real(request: pytest.FixtureRequest, product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Research uses all sixteen cores of the cohort, four of them its own."""
    policy = str(request.param)
    with (
        ControlPlane(tmp_path_factory.mktemp(policy)) as plane,
        kubelet(plane),
        kueue(plane, product, binaries.source("kueue"), name=f"kueue-{policy}", fair=policy == "fair-share") as found,
    ):
        found.policy = policy
        found.nodes(1, cpu="64", memory="256Gi")
        found.apply(priority_class("low", 10), priority_class("mid", 100))
        for namespace in ("research", "serving", "spare"):
            found.kubectl("create", "namespace", namespace)
        ready(found, "three.yaml")
        for name in ("a", "b", "c", "d"):
            found.job("research", name, 4, "low")
            wait_for(lambda name=name: found.admitted("research", name), f"Research's job {name}")  # type: ignore[misc]
        found.connect()
        yield found


def test_its_tree_decides_as_this_kueue_is_set(real: Kueue) -> None:
    """Which its ConfigMap says."""
    revision = real.product.api(f"/hierarchies/{real.name}/revisions/1")["revision"]
    assert revision["policy"] == real.policy


def test_who_goes_for_a_workload_that_borrows_is_decided_again_to_the_same_answer(real: Kueue) -> None:
    """It wants six cores where its queue has four."""
    real.job("serving", "api", 6, "mid")
    wait_for(lambda: real.admitted("serving", "api"), "Serving's job")
    found = wait_for(
        lambda: [one for one in real.product.decisions(real.name) if one["source"] == "kueue"], "a decision", 120
    )
    whole = [real.product.api(f"/decisions/{one['id']}") for one in found]
    assert {victim["queue"] for one in whole for victim in one["victims"]} == {"root.company.research"}
    assert {one["reason"] for one in found} == {POLICIES[real.policy]}
    assert all("gives the same" in " ".join(one["replay_sentences"]) for one in whole)


def test_what_went_waits_again_with_why(real: Kueue) -> None:
    """By the quota that is left now."""
    listed = wait_for(
        lambda: real.product.api(f"/clusters/{real.name}/pending-workloads")["results"], "those that wait"
    )
    one = listed[0]
    address = f"/clusters/{real.name}/pending-workloads/{one['namespace']}/{one['name']}/pending-reasons"
    said = wait_for(lambda: real.product.api(address), "why it is pending")
    checks = {check["name"]: check for check in said["checks"]}
    assert checks["considered"]["passed"]
    assert not checks["left"]["passed"]
    assert checks["most"]["passed"]
