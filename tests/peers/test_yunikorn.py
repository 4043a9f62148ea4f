"""Beside the real YuniKorn: the same queues and figures, its own words for what it refuses, and each of its victims."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from kubernetes.utils import parse_quantity

from tests.peers.conftest import Yunikorn
from tests.peers.peer import pods
from tests.waiting import wait_for

pytestmark = pytest.mark.suite("peers")
CONFIG = (Path(__file__).parent / "yunikorn" / "queues.yaml").read_text()
REFUSED = CONFIG.replace("guaranteed: {vcore: 12, memory: 24Gi}", "guaranteed: {vcore: 2, memory: 24Gi}")


@pytest.fixture(scope="module", autouse=True)
def full(yunikorn: Yunikorn) -> None:
    """The lab has all that its max allows, and asks for more; reports have twice their guarantee; no core is free."""
    for namespace in ("web", "reports", "lab", "tools"):
        yunikorn.kubectl("create", "namespace", namespace)
    yunikorn.apply(*pods("train", 12, 1, "2Gi", namespace="lab", queue="root.lab"))
    yunikorn.apply(*pods("nightly", 8, 1, "2Gi", namespace="reports", queue="root.prod.reports"))
    yunikorn.apply(*pods("scratch", 3, 1, "1Gi", namespace="tools", queue=""))
    yunikorn.apply(*pods("held", 3, 2, "1Gi", namespace="lab", queue="root.lab"))
    yunikorn.apply(*astray())
    wait_for(lambda: used(yunikorn, "root") == 23, "A full cluster")


def astray() -> list[Any]:
    """Two that name a queue which they are not in: one of another scheduler, one of an application of the lab."""
    foreign, late = (pods(name, 1, 1, "1Gi", namespace="lab", queue="root.prod.web")[0] for name in ("other", "late"))
    foreign["spec"] |= {"schedulerName": "default-scheduler", "nodeName": "n1"}
    foreign["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    late["metadata"]["labels"]["yunikorn.apache.org/app-id"] = "train"
    return [foreign, late]


def used(yunikorn: Yunikorn, path: str) -> Fraction:
    """Cores, as YuniKorn counts them."""
    return Fraction(yunikorn.their_queues()[path].get("allocatedResource", {}).get("vcore", 0), 1000)


def ours(yunikorn: Yunikorn, figure: str) -> dict[tuple[str, str], Fraction]:
    """A figure of every queue and resource as the product has it; what is nothing is left out."""
    return {
        (path, name): Fraction(amount)
        for path, queue in yunikorn.queues().items()
        for name, figures in queue["resources"].items()
        if (amount := parse_quantity(figures[figure] or "0"))
    }


def theirs(yunikorn: Yunikorn, field: str) -> dict[tuple[str, str], Fraction]:
    """The same as YuniKorn has it; of the root its max is that of the nodes."""
    return {
        (path, "cpu" if name == "vcore" else name): Fraction(amount, 1000 if name == "vcore" else 1)
        for path, queue in yunikorn.their_queues().items()
        for name, amount in (queue.get(field) or {}).items()
        if amount
    }


@pytest.mark.parametrize(
    ("figure", "field"),
    [("used", "allocatedResource"), ("guaranteed", "guaranteedResource"), ("max", "maxResource")],
)
def test_queue_by_queue_the_figures_are_its_own(yunikorn: Yunikorn, figure: str, field: str) -> None:
    """Of every queue: what other schedulers placed is in none of them. The root's max is what the nodes have."""

    def shared() -> list[dict[tuple[str, str], Fraction]]:
        both = (yunikorn.queues().keys() | yunikorn.their_queues().keys()) - ({"root"} if figure == "max" else set())
        return [
            {key: amount for key, amount in side.items() if key[0] in both and key[1] != "pods"}
            for side in (ours(yunikorn, figure), theirs(yunikorn, field))
        ]

    wait_for(lambda: (two := shared())[0] == two[1] != {}, f"the same {figure}")


def test_what_the_max_of_a_queue_holds_back_is_pending(yunikorn: Yunikorn) -> None:
    """Though YuniKorn says nothing of those pods."""
    listed = json.loads(yunikorn.kubectl("-n", "lab", "get", "pods", "-o", "json"))["items"]
    unbound = [one["metadata"]["name"] for one in listed if "nodeName" not in one["spec"]]
    assert unbound
    wait_for(lambda: yunikorn.queues()["root.lab"]["pending_pods"] == len(unbound), f"{unbound} to be pending")


def test_an_application_is_in_the_queue_of_its_first_pod(yunikorn: Yunikorn) -> None:
    """Whatever a later one names: that one waits in the lab, and takes nothing of another queue."""
    application = yunikorn.rest("/ws/v1/partition/default/queue/root.lab/application/train")
    assert application["queueName"] == "root.lab"
    wait_for(lambda: yunikorn.queues()["root.prod.web"]["pending_pods"] == 0, "nobody to wait in web")


def test_placeholders_of_a_gang_count_as_yunikorn_counts_them(yunikorn: Yunikorn) -> None:
    """It makes them itself, a pod for each member; what comes in their place counts once."""
    yunikorn.kubectl("-n", "reports", "delete", "pods", "-l", "yunikorn.apache.org/app-id=nightly", "--wait=false")
    wait_for(lambda: used(yunikorn, "root.prod.reports") == 0, "room")
    members = pods("gang", 3, 2, "1Gi", namespace="reports", queue="root.prod.reports")
    group = {"name": "workers", "minMember": 3, "minResource": {"cpu": "2", "memory": "1Gi"}}
    for one in members:
        named = {"task-group-name": "workers", "task-groups": json.dumps([group])}
        one["metadata"]["annotations"] = {f"yunikorn.apache.org/{key}": value for key, value in named.items()}
    for number, sent in ((0, members[:1]), (1, members[1:])):
        yunikorn.apply(*sent)
        wait_for(lambda: used(yunikorn, "root.prod.reports") == 6, "the gang's room")
        wait_for(lambda: ours(yunikorn, "used").get(("root.prod.reports", "cpu")) == 6, f"the same in step {number}")
    listed = json.loads(yunikorn.kubectl("-n", "reports", "get", "pods", "-o", "json"))["items"]
    assert len([one for one in listed if one["metadata"]["name"].startswith("gang-")]) == 3
    yunikorn.kubectl("-n", "reports", "delete", "pods", "-l", "yunikorn.apache.org/app-id=gang", "--wait=false")
    yunikorn.apply(*pods("nightly", 8, 1, "2Gi", namespace="reports", queue="root.prod.reports"))
    wait_for(lambda: used(yunikorn, "root.prod.reports") == 8, "reports as before")


def test_each_preemption_is_recorded_with_its_victims_and_its_preemptor(yunikorn: Yunikorn) -> None:
    """Inside the fence, for the queue below its guarantee."""
    yunikorn.apply(*pods("shop", 1, 2, "4Gi", namespace="web", queue="root.prod.web"))
    found = wait_for(lambda: by_yunikorn(yunikorn), "a decision")
    victims = yunikorn.product.api(f"/decisions/{found[0]['id']}")["victims"]
    assert {one["name"].partition("-")[0] for one in victims} == {"nightly"}
    assert found[0]["pending_pod"]["name"] == "shop-0"


def test_a_daemonsets_pod_takes_room_on_its_own_node(yunikorn: Yunikorn) -> None:
    """Which is recorded with that node; of victims that are alike to it, whom it takes is a matter of chance there."""
    (pod,) = pods("agent", 1, 1, "1Gi", namespace="web", queue="root.prod.web")
    labels = pod["metadata"]["labels"]
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod["spec"]}}
    meta = {"name": "agent", "namespace": "web"}
    yunikorn.apply({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": spec})
    row = wait_for(
        lambda: next((one for one in by_yunikorn(yunikorn) if one["pending_pod"]["name"].startswith("agent-")), None),
        "a decision",
    )
    whole = yunikorn.product.api(f"/decisions/{row['id']}")
    assert {one["node"] for one in whole["victims"]} == {whole["node"]}
    said = " ".join(whole["replay_sentences"])
    assert "gives the same" in said or "its result is random" in said


def test_pods_that_go_as_a_max_was_lowered_are_recorded_as_such(yunikorn: Yunikorn) -> None:
    """Of that queue alone, whose new max is told; then it gets back what it had."""
    yunikorn.write_config(CONFIG.replace("max: {vcore: 12, memory: 24Gi}", "max: {vcore: 9, memory: 24Gi}"))
    (row,) = wait_for(
        lambda: [one for one in yunikorn.product.decisions("yunikorn") if one["reason"] == "lowered-max"], "a decision"
    )
    whole = yunikorn.product.api(f"/decisions/{row['id']}")
    assert {one["queue"] for one in whole["victims"]} == {"root.lab"}
    wait_for(lambda: used(yunikorn, "root.lab") <= 9, "the lab within its max")
    yunikorn.write_config(CONFIG)
    wait_for(lambda: yunikorn.copy()["effect"] == "in-force", "the former max")


def test_a_restart_changes_nothing_and_records_nothing_twice(yunikorn: Yunikorn) -> None:
    """It reads the cluster anew, and so do we what it says."""
    before = {one["id"] for one in by_yunikorn(yunikorn)}
    held = used(yunikorn, "root")
    yunikorn.restart()
    wait_for(lambda: yunikorn.answers() and used(yunikorn, "root") == held, "YuniKorn with what it had")
    wait_for(lambda: ours(yunikorn, "used")["root", "cpu"] == held, "the same used")
    last = yunikorn.product.api("/clusters/yunikorn")["last_pass"]["at"]
    wait_for(lambda: yunikorn.product.api("/clusters/yunikorn")["last_pass"]["at"] > last, "another pass")
    assert {one["id"] for one in by_yunikorn(yunikorn)} == before


def by_yunikorn(yunikorn: Yunikorn) -> list[dict[str, Any]]:
    """What it preempted, as the product has it."""
    return [one for one in yunikorn.product.decisions("yunikorn") if one["source"] == "yunikorn"]


class TestTheCopy:
    """What is written need not be in force."""

    def test_is_in_force_and_in_step(self, yunikorn: Yunikorn) -> None:
        wait_for(
            lambda: (yunikorn.copy()["effect"], yunikorn.copy()["sync_status"]) == ("in-force", "in-step"), "in use"
        )

    def test_that_yunikorn_refuses_is_told_in_its_words_and_restored(self, yunikorn: Yunikorn) -> None:
        """Before it would not have started again."""
        yunikorn.write_config(REFUSED)
        told = wait_for(lambda: (one := yunikorn.copy())["effect"] == "refused" and one, "the refusal")
        assert "is smaller than sum of guaranteed resources" in told["effect_message"]
        yunikorn.product.manage("shell", "-c", RESTORE)
        wait_for(lambda: yunikorn.copy()["effect"] == "in-force", "what it used before")
        written = yunikorn.kubectl("-n", "yunikorn", "get", "configmap", "yunikorn-configs", "-o", "jsonpath={.data}")
        assert "vcore: 12, memory: 24Gi" in written

    def test_no_tree_is_published_that_yunikorn_would_refuse(self, yunikorn: Yunikorn, tmp_path: Path) -> None:
        document = tmp_path / "queues.yaml"
        document.write_text(REFUSED)
        with pytest.raises(AssertionError, match="YuniKorn rejects that"):
            yunikorn.product.manage("import_queues", "yunikorn", str(document), "--reason", "less")


RESTORE = """
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.sync.services import ask_to_put_back, copy_of

cluster = Cluster.objects.get(name="yunikorn")
ask_to_put_back(cluster=cluster, version=copy_of(cluster).version, actor=None, reason="outage")
"""
