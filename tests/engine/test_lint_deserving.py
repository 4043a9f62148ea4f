"""What lint says of trees by which a cluster is divided (policy ``deserved``)."""

import pytest

from engine.model.queue_tree import WEIGHT_ONE, Queue, Take
from engine.tree.lint import errors, lint
from engine.tree.lint.room import ClusterRoom
from tests.builders import amounts, queue, tree
from tests.engine.linted import findings, under


def said(queues: dict[str, Queue], capacity: str | None = None) -> list[str]:
    """The findings."""
    return findings(queues, capacity, policy="deserved", dialect="arbitrator")


@pytest.mark.parametrize(
    ("queues", "finding"),
    [
        (
            {"a": queue(4, max=2), "b": queue()},
            "error root.a guaranteed/cpu: The guarantee of 4 cpu is above the max of",
        ),
        (
            {"t": queue(2), "t.a": queue(2), "t.b": queue(1)},
            "warning root.t guaranteed/cpu: Its guarantee is 2 cpu",
        ),
        ({"a": queue(9), "b": queue()}, "warning root guaranteed/cpu: The guarantees exceed the capacity: 9 of 8 cpu."),
        ({"a": queue(weight=2 * WEIGHT_ONE)}, "warning root.a weight: Its weight has no effect"),
        (
            {"a": queue(weight=0), "b": queue()},
            "info root.a weight: With a weight of 0, its deserved share is only its reservation",
        ),
        (
            {"a": queue(lendable=amounts("1")), "b": queue()},
            "warning root.a lendable/cpu: Its lendable amount has no effect",
        ),
        (
            {"a": queue(take_within=Take.NEVER), "b": queue()},
            "warning root.a take_within: Its preemption settings have no effect",
        ),
    ],
)
def test_what_can_not_be_kept_or_has_no_effect_is_said(queues: dict[str, Queue], finding: str) -> None:
    """What is reserved above a hard limit, above what is reserved for all together, or above what there is."""
    assert any(found.startswith(finding) for found in said(queues, "8")), said(queues, "8")


def test_a_tree_that_keeps_what_it_says_is_left_in_peace() -> None:
    """Consumers need nothing reserved, and a delay above holds for all below."""
    queues = {
        "t": queue(4, delay_ms=1),
        "t.a": queue(2, max=4, weight=2 * WEIGHT_ONE),
        "t.b": queue(),
        "c": queue(fence=True),
    }
    left = [one for one in said(queues, "8") if not one.startswith("info")]
    assert left == []


def test_what_is_reserved_above_its_hard_limit_is_never_published() -> None:
    """It contradicts itself."""
    assert [note.path for note in errors(tree({"a": queue(4, max=2)}), under("deserved"))] == ["root.a"]


def test_who_is_promised_more_than_its_quota_allows_is_told() -> None:
    """Of leaves that a namespace has for itself, under this policy alone."""
    shape = tree({"a": queue(2, max=4, namespaces=("a",)), "b": queue(3, namespaces=("b",)), "c": queue(9)})
    room = ClusterRoom({"cpu": 100_000}, {"a": {"cpu": 3000}, "b": {"cpu": 2000, "memory": 1}, "c": {"cpu": 1}})
    found = {
        policy: [(note.path, note.field) for note in lint(shape, under(policy), room) if "ResourceQuotas" in note.text]
        for policy in ("deserved", "fence")
    }
    assert found == {"deserved": [("root.a", "max/cpu"), ("root.b", "guaranteed/cpu")], "fence": []}
    (first, _) = [note for note in lint(shape, under("deserved"), room) if "ResourceQuotas" in note.text]
    assert first.text == (
        "Its max of cpu is 4, but the ResourceQuotas of namespace a allow only 3, so its "
        "deserved share is at most that."
    )
