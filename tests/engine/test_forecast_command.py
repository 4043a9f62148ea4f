"""``python -m engine forecast``: manifests and a tree in, who would go for whom out."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import SOME_ERRORS, SOUND, USAGE, main
from engine.cli.forecast import tree_of_import
from engine.formats.registry import read

QUEUES = """
partitions:
  - name: default
    queues:
      - name: prod
        resources: {guaranteed: {vcore: 4}}
      - name: test
        resources: {guaranteed: {vcore: 1}}
"""
OURS = {"queues": [{"path": "root"}, {"path": "root.prod", "guaranteed": {"cpu": "4"}}, {"path": "root.test"}]}


def node(cpu: int) -> dict[str, Any]:
    """A node with so many cores."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {
            "allocatable": {"cpu": str(cpu), "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, queue: str, cpu: int, node: str = "", owner: str = "") -> dict[str, Any]:
    """A pod of a queue; it runs where it has a node, else it asks."""
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": owner, "controller": True}]
    containers = [{"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": queue,
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-11-01T10:00:00Z",
            "labels": {"queue": f"root.{queue}", "applicationId": owner or name},
            **({"ownerReferences": owners} if owner else {}),
        },
        "spec": {"containers": containers, **({"nodeName": node} if node else {})},
        "status": {"phase": "Running" if node else "Pending"},
    }


CROWDED = [node(4), *(pod(f"t{number}", "test", 1, "n1", owner="job") for number in range(4)), pod("p", "prod", 2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of manifests: four pods of test on one node of four cores, and an ask of prod for two."""
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CROWDED}))
    (tmp_path / "queues.yaml").write_text(QUEUES)
    return tmp_path


def foretell(folder: Path, *more: str, tree: str = "queues.yaml") -> int:
    """The exit code."""
    named = ["--tree", str(folder / tree)] if tree else []
    return main(["forecast", "--manifests", str(folder / "manifests"), *named, *more])


def test_it_says_who_gets_a_node_and_who_goes_for_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And who waits in the end: a pod that its Job made again finds no room, and may not preempt either."""
    assert foretell(folder) == SOUND
    told = capsys.readouterr().out
    assert told.startswith("Pods: 5. Nodes: 1. Policy: fence, dialect design.\n")
    assert "prod/p (root.prod) gets n1; preempted for it: test/t" in told
    assert "Preempted pods: 2. Applications with preempted pods: 1. Pending pods that get a node: 1. " in told
    assert "Pods that stay pending: 2." in told
    assert "test/t" in told.split("stay pending")[1]
    assert told.endswith("No more changes after round 2.\n")


def test_programs_read_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As one line of JSON."""
    assert foretell(folder, "--json") == SOUND
    told = json.loads(capsys.readouterr().out)
    assert (told["settles"], told["passes"], len(told["waiting"])) == ("stable", 2, 2)
    first = told["rounds"][0]
    assert [placed["ask"]["name"] for placed in first["placed"]] == ["p"]
    assert {one["for"]["name"] for one in first["evictions"]} == {"p"}


def test_nobody_goes_under_a_tree_that_does_not_allow_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree of our own form is read too."""
    fenced = {"queues": [{**queue, "preemption_policy": "fence"} for queue in OURS["queues"][1:]]}
    (folder / "ours.json").write_text(json.dumps({"queues": [OURS["queues"][0], *fenced["queues"]]}))
    assert foretell(folder, tree="ours.json") == SOUND
    assert "Preempted pods: 0" in capsys.readouterr().out


def test_another_policy_needs_no_tree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under kube-scheduler's rules nobody is of lower priority here."""
    assert foretell(folder, "--policy", "priority", tree="") == SOUND
    told = capsys.readouterr().out
    assert "Policy: priority" in told
    assert "Preempted pods: 0" in told


def test_what_no_policy_reads_is_counted_and_passed_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as Services; also a custom resource whose kind ends with List is an object of its own."""
    services = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": "one"}} for kind in ("Service", "AllowList")]
    (folder / "manifests" / "more.yml").write_text("\n---\n".join(map(json.dumps, services)))
    assert foretell(folder) == SOUND
    assert "Ignored objects, which no policy reads: 2." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--policy", "luck"], USAGE, "Unknown policy luck."),
        (["--policy", "fence", "--dialect", "volcano"], USAGE, "no dialect volcano"),
        (["--manifests", "/nowhere/at/all"], USAGE, "/nowhere/at/all does not exist."),
        (["--tree", "/nowhere/at/all"], USAGE, "/nowhere/at/all cannot be read"),
    ],
)
def test_wrong_input_is_told_plainly(
    arguments: list[str], code: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with an exit code of its own."""
    assert foretell(folder, *arguments) == code
    assert said in capsys.readouterr().err


def test_a_tree_is_needed_where_queues_decide(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without one nothing could be guaranteed to anybody."""
    assert foretell(folder, tree="") == USAGE
    assert "Policy fence needs a queue tree." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.json", "{", "is not valid JSON"),
        ("bad.yaml", "a: [", "not valid YAML"),
        ("bad.yaml", "&a\nb: *a", "it contains itself"),
        ("bad.yaml", "[" * 3_000, "nested too deep"),
        ("bad.json", "[1]", "this is not a Kubernetes object but a list."),
        ("bad.json", '{"kind": "Pod", "apiVersion": "v1"}', "the object has no metadata."),
    ],
)
def test_a_broken_manifest_is_named(
    name: str, text: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its file, and its line where it has any."""
    (folder / "manifests" / name).write_text(text)
    assert foretell(folder) == USAGE
    told = capsys.readouterr().err
    assert name in told
    assert said in told


def test_a_pod_that_cannot_be_read_stops_nobody_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named with why, and what it holds is not known."""
    broken = pod("broken", "test", 1)
    broken["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "many"
    (folder / "manifests" / "broken.json").write_text(json.dumps(broken))
    assert foretell(folder) == SOUND
    assert "Unreadable object, which counts as unknown: Pod test/broken: " in capsys.readouterr().out


def test_a_tree_that_cannot_be_read_is_an_error_of_what_it_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, as nothing is wrong with how it was called."""
    (folder / "queues.yaml").write_text(QUEUES.replace("vcore: 4", "vcore: -4"))
    assert foretell(folder) == SOME_ERRORS
    assert "root.prod" in capsys.readouterr().err


@pytest.mark.parametrize("time", ["yesterday", "2026-11-22T10:00:00"])
def test_a_time_is_told_with_its_zone(time: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is none is wrong usage."""
    with pytest.raises(SystemExit):
        foretell(folder, "--now", time)
    assert time in capsys.readouterr().err
    assert foretell(folder, "--now", "2026-11-22T10:00:00Z") == SOUND


@pytest.mark.parametrize("text", ["[1, 2]", "queues", "3", "null"])
def test_a_tree_that_is_no_mapping_is_told_plainly(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not by a traceback."""
    (folder / "odd.tree").write_text(text)
    assert foretell(folder, tree="odd.tree") == SOME_ERRORS
    assert "format of this document is not recognized" in capsys.readouterr().err


def test_a_tree_keeps_its_parameters_when_its_own_policy_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another policy it has none."""
    tree = {"policy": "fence", "parameters": {"last_resort": "never"}, "queues": [{"path": "root"}]}
    given = tree_of_import(read(json.dumps(tree)))
    assert given.by("fence", "").parameters == given.by("", "design").parameters == {"last_resort": "never"}
    assert given.by("deserved", "").parameters == {}


def test_shares_are_of_what_the_nodes_of_the_manifests_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the one node's cores."""
    tree = {"queues": [{"path": "root"}, {"path": "root.prod", "guaranteed": {"cpu": "50%"}}, {"path": "root.test"}]}
    (folder / "shares.json").write_text(json.dumps(tree))
    assert foretell(folder, tree="shares.json") == SOUND, capsys.readouterr().err
