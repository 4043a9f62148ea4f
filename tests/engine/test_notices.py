"""Who is told to give back, pass after pass."""

from engine.model.decision import Decision, Outcome, PodFacts, Reason, ReclaimNotice
from engine.planning.reclaim_notices import updated_notices
from tests.builders import NOW, ask


def naming(*queues: str) -> Decision:
    """A decision that tells these queues."""
    return Decision(
        policy="deserved",
        ask=PodFacts.of(ask("b", queue="b")),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=Reason.GRACE,
        notices=tuple(ReclaimNotice(queue=queue, over={"cpu": 1000}, due_ms=NOW + 30_000) for queue in queues),
    )


def test_who_is_named_for_the_first_time_is_told_now() -> None:
    """By whichever decision of the pass."""
    assert updated_notices({}, [naming("root.a"), naming(), naming("root.a", "root.c")], NOW) == {
        "root.a": NOW,
        "root.c": NOW,
    }


def test_who_is_named_again_was_told_when_it_was() -> None:
    """Its grace goes on."""
    assert updated_notices({"root.a": NOW - 10_000}, [naming("root.a")], NOW) == {"root.a": NOW - 10_000}


def test_who_is_named_no_more_is_forgotten() -> None:
    """If it is named once more later, its grace begins anew."""
    assert updated_notices({"root.a": NOW - 10_000, "root.b": NOW}, [naming("root.b")], NOW + 1000) == {"root.b": NOW}
