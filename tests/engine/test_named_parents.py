"""Queues of Volcano and of KAI are read into a tree, and written back with nothing else changed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.registry import Format, read, write
from engine.model.notes import ImportFailure, Severity
from engine.model.quantities import parse_amounts
from engine.model.queue_tree import WEIGHT_ONE, PreemptionPolicy, Queue, QueueTree
from tests.builders import queue, tree
from tests.engine.strategies import queue_trees
from tests.engine.test_kueue_objects import declared, with_queue
from tests.properties import examples

REPORTED = Path(__file__).parents[1] / "fidelity/reported"
TOLD = {Format.VOLCANO: "26-volcano-queues.yaml", Format.KAI: "27-kai-queues.yaml"}
DOCUMENTS = {form: (REPORTED / name).read_text(encoding="utf-8") for form, name in TOLD.items()}
PARENT = {"parent_declared": True}
ROOT = Queue(path="root", parent_declared=True)
ODD = "is not a known field, so it is ignored. Did you mean"
GPU = "nvidia.com/gpu"


def volcano(name: str, spec: str = "{}") -> str:
    """A document of one Queue of Volcano's."""
    kind = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
    return f"{kind}metadata: {{name: {name}}}\nspec: {spec}\n"


def kai(name: str, spec: str = "{}") -> str:
    """A document of one Queue of KAI's."""
    return volcano(name, spec).replace("scheduling.volcano.sh/v1beta1", "scheduling.run.ai/v2")


def queues(text: str) -> dict[str, Queue]:
    """What a text says, without the root that it implies."""
    found = dict(read(text).tree.queues)
    assert found.pop("root") == ROOT
    return found


def told(text: str) -> list[str]:
    """Warnings and errors, with their lines."""
    try:
        notes = read(text).notes
    except ImportFailure as failure:
        notes = failure.notes
    return [f"{note.line} {note.text}" for note in notes if note.severity is not Severity.INFO]


def test_a_queue_of_volcano_is_guaranteed_what_it_deserves() -> None:
    """Its capability is max; what is only kept free for it is said to be passed over."""
    assert queues(DOCUMENTS[Format.VOLCANO]) == {
        "root.team-a": Queue(
            path="root.team-a",
            parent_declared=True,
            guaranteed=parse_amounts({"cpu": 60, "memory": "240Gi"}),
            max=parse_amounts({"cpu": 70, "memory": "300Gi"}),
        ),
        "root.team-a.training": Queue(
            path="root.team-a.training", guaranteed=parse_amounts({"cpu": 40, "memory": "160Gi"})
        ),
    }
    assert [note.text for note in read(DOCUMENTS[Format.VOLCANO]).notes] == [
        (
            "The queue’s deserved share is used as its guarantee here. Volcano reserves its "
            "guarantee of cpu, memory, which has no counterpart here. It is kept and written "
            "back unchanged."
        )
    ]


def test_without_a_share_that_it_deserves_its_guarantee_counts() -> None:
    """As under Volcano's plugin proportion, with weights; pods of a queue that is not reclaimable stay."""
    spec = "{weight: 3, reclaimable: false, guarantee: {resource: {cpu: 2}}}"
    assert queues(volcano("a", spec)) == {
        "root.a": Queue(
            path="root.a",
            guaranteed={"cpu": 2000},
            weight=3 * WEIGHT_ONE,
            preemption_policy=PreemptionPolicy.DISABLED,
        )
    }


def test_what_kubectl_prints_of_volcano_has_its_root() -> None:
    """Queues that name no parent are below it, as in Volcano."""
    text = volcano("root") + volcano("default") + volcano("b", "{parent: default}")
    assert list(read(text).tree.walk()) == ["root", "root.default", "root.default.b"]


def test_a_queue_of_kai_is_guaranteed_its_quota() -> None:
    """-1 is no limit, and a quota that counts for nothing."""
    gpus = {"guaranteed": {GPU: 40}, "max": {GPU: 56}}
    assert queues(DOCUMENTS[Format.KAI]) == {"root.production": Queue(path="root.production", **gpus)}
    assert told(DOCUMENTS[Format.KAI]) == []


def test_kai_counts_in_thousandths_of_cores_and_millions_of_bytes() -> None:
    """And a limit that is not there is 0, of which one is warned."""
    text = kai("a", "{resources: {cpu: {quota: 2500, limit: 4000}, memory: {quota: 4096, limit: -1}}}")
    found = queues(text)["root.a"]
    assert (found.guaranteed, found.max) == ({"cpu": 2500, "memory": 4096 * 10**6}, {"cpu": 4000, GPU: 0})
    assert told(text) == [
        f"5 Pods that request {GPU} can't run in this queue. In KAI, a missing limit means 0, and -1 means no limit."
    ]


@pytest.mark.parametrize("form", DOCUMENTS)
def test_only_what_changed_is_written(form: Format) -> None:
    """All else stays as it was typed."""
    text = DOCUMENTS[form]
    shape = read(text).tree
    assert write(form, text, shape).text == text
    path = shape.leaves[0]
    name = next(iter(shape[path].guaranteed))
    less = shape[path].guaranteed | {name: shape[path].guaranteed[name] // 2}
    changed = with_queue(shape, path, guaranteed=less)
    after = write(form, text, changed).text
    assert len(set(text.splitlines()) ^ set(after.splitlines())) == 2
    assert read(after).tree.queues == changed.queues
    stays = with_queue(shape, path, preemption_policy=PreemptionPolicy.DISABLED, guaranteed={}, max={}, weight=2)
    assert declared(read(write(form, text, stays).text).tree) == declared(stays)


@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_new_document_says_all_that_its_system_can(form: Format) -> None:
    """No annotation is needed for amounts, weights and parents."""
    shape = tree({"a": queue({"cpu": 1, "memory": "1G", GPU: 2}, **PARENT), "a.b": queue(max={"cpu": 2, GPU: 3})})
    text = write(form, "", shape).text
    assert "annotations" not in text
    assert declared(read(text).tree) == declared(shape)


@pytest.mark.parametrize("form", DOCUMENTS)
@given(shape=queue_trees(), onto=st.booleans())
@examples(15)
def test_any_tree_comes_back(form: Format, shape: QueueTree, onto: bool) -> None:
    """From new objects, and from another tree's; also a parent that holds nothing yet."""
    empty = QueueTree([*shape.queues.values(), Queue(path="root.empty", parent_declared=True)])
    text = write(form, DOCUMENTS[form] if onto else "", empty).text
    assert declared(read(text).tree) == declared(empty)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (volcano("a", "{parent: b}"), "5 Parent Queue b does not exist."),
        (kai("a", "{parentQueue: a}"), "5 Queue a is its own ancestor. Remove the cycle."),
        (volcano("a") + volcano("a"), "9 Queue a is defined twice."),
        (volcano("a", "{deserved: {cpu: 1Gb}}"), "5 1Gb is not a valid amount. Did you mean 1Gi or 1G?"),
        (volcano("a", "{weight: 0}"), "5 0 is not a whole number from 1 to 65535."),
        (volcano("a", "{deserve: {cpu: 1}}"), f"5 deserve {ODD} deserved?"),
        (kai("a", "{resources: {gpu: {quota: 0.5, limit: -1}, cpu: {limit: -1}, memory: {limit: -1}}}"),
         f"5 0.5 is not a whole number. Enter a whole number for {GPU}."),
        (kai("a", "{resources: {gpus: {}}}"), f"5 gpus {ODD} gpu?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_line(text: str, says: str) -> None:
    """In a sentence."""
    assert says in told(text)
