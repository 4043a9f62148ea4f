"""``python -m engine decide``: one case a line in, one answer a line out, whatever is wrong with some of them."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.__main__ import main
from engine.audit import audit, failed_checks
from engine.cli.cases import RecordedCase, Situation, read_case, situation
from engine.cli.decide import answer
from engine.policies import fence
from tests.builders import named

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "data" / "recorded.jsonl"
CASES = [json.loads(line) for line in RECORDED.read_text().splitlines()]


class Done(NamedTuple):
    """What a run left behind."""

    returncode: int
    stdout: bytes
    stderr: bytes


def command(*arguments: str, stdin: bytes = b"") -> Done:
    """Run the command, with standard streams of its own."""
    told = {name: io.TextIOWrapper(io.BytesIO(), write_through=True) for name in ("stdout", "stderr")}
    given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", given)
        for name, stream in told.items():
            patch.setattr(sys, name, stream)
        try:
            code = main(["decide", *arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, *(stream.buffer.getvalue() for stream in told.values()))


def in_a_process(*arguments: str, stdin: bytes = b"", seed: str = "0") -> Done:
    """Run it as people do."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", "decide", *arguments],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": seed},
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def answers(done: Done) -> list[dict[str, Any]]:
    """What it printed, line by line."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines(*cases: dict[str, Any]) -> bytes:
    """Cases as they go in."""
    return b"".join(json.dumps(case).encode() + b"\n" for case in cases)


def small_case(**changes: Any) -> dict[str, Any]:
    """Prod below its guarantee, Test above, one node, all in manifests."""
    amounts = {"cpu": "2", "memory": "1Gi"}
    node = {"kind": "Node", "metadata": {"name": "n1", "uid": "n"}, "status": {"allocatable": amounts | {"pods": "9"}}}
    node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    queues = [{"name": "prod", "resources": {"guaranteed": {"vcore": 2}}}, {"name": "test"}]
    case = {
        "name": "small",
        "policy": "fence",
        "now": "2026-01-01T12:00:00Z",
        "objects": [node, manifest("t", "test", node="n1"), manifest("p", "prod")],
        "queues": {"partitions": [{"name": "default", "queues": queues}]},
        "asker": "ns/p",
    }
    return case | changes


def manifest(name: str, queue: str, node: str | None = None) -> dict[str, Any]:
    """A pod of two cores, created a minute before now."""
    labels = {"yunikorn.apache.org/queue": f"root.{queue}", "yunikorn.apache.org/app-id": name}
    meta = {"namespace": "ns", "name": name, "uid": name, "labels": labels}
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]
    spec = {"containers": containers} | ({"nodeName": node} if node else {})
    return {"kind": "Pod", "metadata": meta | {"creationTimestamp": "2026-01-01T11:59:00Z"}, "spec": spec}


def test_a_case_is_decided_and_answered_in_full() -> None:
    """The form that every policy answers in, with figures as people type them."""
    done = in_a_process(stdin=lines(small_case()))
    (got,) = answers(done)
    figures = got.pop("figures")["queues"]
    assert got == {
        "name": "small",
        "policy": "fence",
        "dialect": "design",
        "outcome": "preempt",
        "reason": "below-guarantee",
        "node": "n1",
        "victims": [{"name": "ns/t", "reason": "over-guarantee"}],
        "protected": [{"name": "ns/t", "reason": "no-controller"}],
    }
    assert figures["root.prod"] == {
        "before": {},
        "after": {"cpu": "2", "pods": "1"},
        "guaranteed": {"cpu": "2"},
        "max": {},
    }
    assert done.returncode == 0


def test_a_gang_is_answered_with_the_node_of_each_pod() -> None:
    """The asker is its first pending pod; there is no one node for all of them."""
    gang = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"namespace": "ns", "name": "gang", "uid": "g"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}},
    }
    node, running, member = small_case()["objects"]
    member = member | {"spec": member["spec"] | {"schedulingGroup": {"podGroupName": "gang"}}}
    (got,) = answers(command(stdin=lines(small_case(objects=[node, running, member, gang]))))
    assert (got["outcome"], got["node"], got["nodes"]) == ("preempt", None, {"ns/p": "n1"})
    assert [victim["name"] for victim in got["victims"]] == ["ns/t"]


def test_the_trace_comes_only_when_asked_for() -> None:
    """All that the decision rests on."""
    (got,) = answers(command("--trace", stdin=lines(small_case())))
    assert got["trace"]["entitling"] == {"cpu": "root.prod"}


def test_the_least_victims_come_when_asked_for() -> None:
    """Of our own policies; by YuniKorn's rules it is an error in place of the answer."""
    small = small_case(policy="priority")
    small["objects"][2]["spec"]["priority"] = 1
    done = command("--optimal", stdin=lines(small, small_case(), small_case(dialect="yunikorn")))
    by_priority, by_fence, error = answers(done)
    least = {"node": "n1", "victims": ["ns/t"], "same": True, "distance": {}, "left_out": []}
    least |= {"nodes": {}, "none": False, "too_many": {}, "unfinished": False}
    assert by_priority["optimal"] == {**least, "pdb_violations": 0}
    assert by_fence["optimal"] == {**least, "pdb_violations": None}
    assert error["error"] == "Policy fence, dialect yunikorn, does not support --optimal."


def test_recorded_cases_are_answered_in_order() -> None:
    """In our dialect when told so; the quota case has no asker, and the others go on."""
    done = command(str(RECORDED), "--dialect", "design")
    got = answers(done)
    assert [one["name"] for one in got] == [case["name"] for case in CASES]
    assert [one.get("outcome") for one in got] == [
        "preempt",
        "preempt",
        "no-candidate",
        "preempt",
        "preempt",
        None,
    ]
    assert got[-1]["error"] == "The case has no asker."
    assert done.returncode == 1


def test_recorded_decisions_keep_the_laws() -> None:
    """Those of the recorded cases that have an asker."""
    evicting = 0
    for line in RECORDED.read_bytes().splitlines()[:-1]:
        at = situation_of(line)
        decision = fence.decide(at.snapshot, at.tree, at.ask)
        assert not failed_checks(audit(at.snapshot, at.tree, decision))
        evicting += decision.evicts
    assert evicting


def situation_of(line: bytes) -> Situation:
    """The situation of a case given as JSON."""
    return situation(read_case(line))


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    """By content, not by name, and from standard input as well."""
    packed = gzip.compress(lines(small_case()))
    file = tmp_path / "cases"
    file.write_bytes(packed)
    assert command(str(file)).stdout == command(stdin=packed).stdout == command(stdin=lines(small_case())).stdout


@pytest.mark.parametrize(
    ("line", "name", "sentence"),
    [
        (b"{", "", "Input data was truncated"),
        (b'"text"', "", "Expected `object`, got `str`"),
        (lines(small_case(asker="ns/nobody")), "small", "The asker ns/nobody is not among the objects of the case."),
        (lines(small_case(asker="ns/t")), "small", "The asker ns/t is not a pending pod."),
        (lines(small_case(asker=["ns/p", "ns/q"])), "small", "The case has 2 askers. A case must have one."),
        (lines(small_case(queues=None)), "small", "The case has no queues."),
        (lines(small_case(queues={})), "small", "The format of this document is not recognized."),
        (lines(small_case(queues={"partitions": []})), "small", "A queues.yaml must begin with partitions."),
        (
            lines(small_case(notices={"root.test": "noon"})),
            "small",
            "The time in notices of root.test is not valid: noon.",
        ),
        (lines(small_case(now="noon")), "small", "The time in now is not valid: noon."),
        (
            lines(small_case(now="2026-01-01T12:00:00")),
            "small",
            "The time in now has no time zone: 2026-01-01T12:00:00.",
        ),
        (lines(small_case(policy="luck")), "small", "Unknown policy luck."),
        (lines(small_case(policy="cohort")), "small", "The asker ns/p is not a Workload of the case."),
        (lines(small_case(dialect="volcano")), "small", "has no dialect volcano. Use design or yunikorn."),
        (lines(small_case(objects=[{"kind": "Pod", "metadata": {"name": "x"}, "spec": 3}])), "small", "Pod x"),
        (b'{"name": "deep", "objects": [{"a": ' + b"[" * 100_000, "", "recursion"),
    ],
)
def test_a_case_that_cannot_be_read_says_why_and_the_others_go_on(line: bytes, name: str, sentence: str) -> None:
    """Its name as far as it can be read, and a sentence; the exit code tells."""
    done = command(stdin=line.rstrip(b"\n") + b"\n\n" + lines(small_case(name="next")))
    wrong, right = answers(done)
    assert wrong["name"] == name
    assert sentence in wrong["error"]
    assert (right["name"], right["outcome"]) == ("next", "preempt")
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", [("/does/not/exist",), ("--dialect", "klingon"), ("--unknown",)])
def test_wrong_usage_is_neither_success_nor_a_failed_case(arguments: tuple[str, ...]) -> None:
    """Exit code 2 and a word on standard error, nothing on standard output."""
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr


def test_answers_are_the_same_under_every_hash_seed() -> None:
    """To the byte, trace and all."""
    traced = ("--dialect", "design", "--trace")
    printed = {in_a_process(str(RECORDED), *traced, seed=seed).stdout for seed in "0123456789"}
    assert len(printed) == 1


def test_an_asker_never_tried_counts_from_its_creation() -> None:
    """Created a minute ago it is due after thirty seconds; created just now it waits."""
    assert answer(lines(small_case()))["outcome"] == "preempt"
    early = answer(lines(small_case(now="2026-01-01T11:59:29Z")))
    assert (early["outcome"], early["reason"]) == ("not-eligible", "delay")


def test_amounts_beyond_floating_point_stay_exact() -> None:
    """2**53 + 1 bytes are not 2**53."""
    case = small_case()
    most = case["objects"][0]["status"]["allocatable"]
    most["memory"] = str(2**53)
    case["objects"][2]["spec"]["containers"][0]["resources"]["requests"]["memory"] = str(2**53 + 1)
    assert answer(lines(case))["outcome"] == "no-candidate"
    most["memory"] = str(2**53 + 1)
    assert answer(lines(case))["outcome"] == "preempt"


def test_a_namespace_that_a_case_does_not_tell_of_has_no_labels() -> None:
    """A case holds the whole cluster: who keeps away from namespaces of some kind is judged, not left alone."""
    case = small_case()
    away = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "x"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}}
    case["objects"][2]["spec"]["affinity"] = apart
    assert answer(lines(case))["outcome"] == "preempt"


def test_nothing_is_protected_in_a_case() -> None:
    """What a live cluster would shield, a pod without a controller, may go in a recorded one."""
    at = situation_of(lines(small_case()))
    assert not named(at.snapshot, "t").shield


def owned(name: str, queue: str, node: str | None = None, **labels: str) -> dict[str, Any]:
    """A pod that a ReplicaSet makes again."""
    made = manifest(name, queue, node)
    made["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": name, "uid": name, "controller": True}]
    made["metadata"]["labels"] |= labels
    return made


def crowded(**changes: Any) -> dict[str, Any]:
    """Two pods could make room for prod: one that nobody would make again, and one that is."""
    node = {"kind": "Node", "metadata": {"name": "n1", "uid": "n"}}
    node["status"] = {
        "allocatable": {"cpu": "4", "memory": "1Gi", "pods": "9"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    free, made = manifest("free", "test", node="n1"), owned("made", "test", "n1", app="made")
    free["metadata"]["creationTimestamp"] = "2026-01-01T11:59:30Z"
    return small_case(objects=[node, free, made, manifest("p", "prod")], **changes)


def victims(done: Done) -> list[str]:
    """Of the one answer."""
    (got,) = answers(done)
    return [victim["name"] for victim in got["victims"]]


def test_what_enforce_spares_is_taken_and_named_unless_it_is_protected() -> None:
    """Off by default: the recorded schedulers know nothing of it."""
    assert victims(command(stdin=lines(crowded()))) == ["ns/free"]
    assert victims(command("--protect", stdin=lines(crowded()))) == ["ns/made"]


def test_what_is_protected_keeps_to_disruption_budgets() -> None:
    """Where no set is let through, the answer names what holds the best one back."""
    case = crowded()
    budget = {"kind": "PodDisruptionBudget", "metadata": {"namespace": "ns", "name": "all"}}
    budget["spec"], budget["status"] = {"selector": {"matchLabels": {"app": "made"}}}, {"disruptionsAllowed": 0}
    case["objects"].append(budget)
    (got,) = answers(command("--protect", stdin=lines(case)))
    assert [victim["name"] for victim in got["victims"]] == ["ns/made"]
    assert got["held_back"]["detail"] == "ns/all"
    (free,) = answers(command(stdin=lines(case)))
    assert "held_back" not in free


@pytest.mark.parametrize("terms", [{"dialect": "yunikorn"}, {"policy": "cohort"}, {"policy": "luck"}], ids=str)
def test_who_is_never_enforced_is_never_protected(terms: dict[str, str]) -> None:
    """An error, not an answer that looks as if."""
    (got,) = answers(command("--protect", stdin=lines(crowded(**terms))))
    assert "is never enforced" in got["error"] or "Unknown policy luck." in got["error"]


def test_under_deserved_it_is_told_who_gives_back_and_who_would_go() -> None:
    """While they are in their grace, and once it is over."""
    (got,) = answers(command(stdin=lines(crowded(policy="deserved"))))
    assert (got["outcome"], got["reason"], got["victims"]) == ("not-eligible", "grace", [])
    assert got["notified"] == [{"queue": "root.test", "over": {"cpu": "2", "pods": "1"}, "due": "2026-01-01T12:00:30Z"}]
    assert got["would_go"] == ["ns/free"]
    late = crowded(policy="deserved", notices={"root.test": "2026-01-01T11:00:00Z"})
    assert victims(command(stdin=lines(late))) == got["would_go"]


@pytest.mark.parametrize(
    "queues",
    [
        {"queues": [{"path": "root"}, {"path": "root.prod", "guaranteed": {"cpu": 2}}, {"path": "root.test"}]},
        "queues:\n- path: root\n- path: root.prod\n  guaranteed: {cpu: 2}\n- path: root.test\n",
        [
            {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec}
            for name, spec in (
                ("prod", {"resources": {name: {"quota": 2000, "limit": -1} for name in ("cpu", "memory", "gpu")}}),
                ("test", {"resources": {name: {"limit": -1} for name in ("cpu", "memory", "gpu")}}),
            )
        ],
    ],
    ids=["our own", "our own as a text", "KAI"],
)
def test_a_tree_may_be_in_any_format(queues: Any) -> None:
    """As a text, or as what its JSON says."""
    (got,) = answers(command(stdin=lines(small_case(queues=queues))))
    assert got["victims"] == [{"name": "ns/t", "reason": "over-guarantee"}]


def test_every_member_of_a_case_is_documented() -> None:
    """In the table that people write cases by."""
    told = (ROOT / "docs/decide.md").read_text(encoding="utf-8")
    rows = [line for line in told.splitlines() if line.startswith("| `")]
    assert [
        name for name in RecordedCase.__struct_fields__ if not any(f"`{name}`" in row.split("|")[1] for row in rows)
    ] == []
