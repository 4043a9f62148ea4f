"""The proposal's picture of policy ``deserved``, told in order: one has it all, a second comes, and gets its half."""

from typing import TYPE_CHECKING

from engine.explain import Message, Tense, allowed, reason, sentence
from engine.model.decision import Decision, Outcome, PodReason, Reason
from engine.model.objects import Pod
from engine.planning.reclaim_notices import updated_notices
from engine.policies.deserved import decide
from tests.builders import NOW, ask, named, node, pod, queue, snapshot, tree, victims_of

if TYPE_CHECKING:
    from engine.model.snapshot import Snapshot

TWO = tree({"consumer-1": queue(), "consumer-2": queue()})
SECOND = 1000


def small(name: str, of: str, *, on: str | None = "n1", created_ms: int = 0) -> Pod:
    """A pod that asks 1 cpu and 1Gi."""
    make = pod if on else ask
    return make(name, queue=of, node=on, resources={"memory": "1Gi"}, created_ms=created_ms)


def english(message: Message) -> str:
    """A message in English."""
    form = message.plural if message.count not in (None, 1) else message.id
    return form % message.params


def pass_at(at_ms: int, told: dict[str, int], *pods: Pod) -> tuple[Decision, dict[str, int]]:
    """What is decided for the second consumer's pod, and who counts as told after that."""
    there: Snapshot = snapshot(TWO, node("n1", 2, resources={"memory": "2Gi"}), pods, now=at_ms, notices=told)
    found = decide(there, TWO, named(there, "second-1"))
    return found, updated_notices(told, [found], at_ms)


def test_a_second_consumer_gets_its_half_back_once_the_first_had_its_time_to_give() -> None:
    """It is told, given its 30 seconds, and then chosen from: its newest pod goes."""
    first = [small("first-1", "consumer-1"), small("first-2", "consumer-1", created_ms=SECOND)]
    waits = small("second-1", "consumer-2", on=None)

    told_now, told = pass_at(NOW, {}, *first, waits)
    assert (told_now.outcome, told_now.reason) == (Outcome.NOT_ELIGIBLE, Reason.GRACE)
    assert (told_now.detail, told_now.due_ms) == ("root.consumer-1", NOW + 30 * SECOND)
    assert told_now.notices[0].over == {"cpu": 1000, "memory": 2**30, "pods": 1}
    assert told == {"root.consumer-1": NOW}

    still, told = pass_at(NOW + 29 * SECOND, told, *first, waits)
    assert (still.reason, still.due_ms) == (Reason.GRACE, NOW + 30 * SECOND)

    chosen, told = pass_at(NOW + 30 * SECOND, told, *first, waits)
    assert (chosen.outcome, chosen.reason, chosen.node) == (Outcome.PREEMPT, Reason.BELOW_DESERVED, "n1")
    assert victims_of(chosen) == ["first-2"]
    assert chosen.victims[0].reason is PodReason.OVER_DESERVED

    assert english(reason(told_now)).startswith(
        "consumer-1 uses 2 cores, and its deserved share is 1 core. It was asked to give back"
    )
    assert english(reason(chosen)).startswith(
        "consumer-2 uses 0 cores of its deserved share of 1 core, so its pending pods can preempt"
    )
    assert english(sentence(chosen, Tense.EVICTED)) == (
        "second-1 needed 1 core within the deserved share of consumer-2, so 1 pod of "
        "queues above their deserved share (consumer-1) was evicted."
    )
    (why,) = allowed(chosen)
    assert english(why) == "consumer-1 uses 2 cores and deserves 1; without this pod it uses 1"


def test_who_gives_back_by_itself_loses_nothing_more() -> None:
    """The second consumer's pod fits then, and nobody counts as told."""
    kept, waits = small("first-1", "consumer-1"), small("second-1", "consumer-2", on=None)
    found, told = pass_at(NOW + 10 * SECOND, {"root.consumer-1": NOW}, kept, waits)
    assert (found.outcome, found.reason, told) == (Outcome.FITS, Reason.FITS, {})


def test_what_the_second_one_wants_beyond_its_half_it_waits_for() -> None:
    """With a second pod it would have more than it deserves."""
    pods = [small("first-1", "consumer-1"), small("second-0", "consumer-2"), small("second-1", "consumer-2", on=None)]
    waits_too = small("first-2", "consumer-1", on=None)
    found, _ = pass_at(NOW, {"root.consumer-1": 0}, *pods, waits_too)
    assert (found.outcome, found.reason) == (Outcome.NOT_ELIGIBLE, Reason.BEYOND_DESERVED)
    assert found.detail == "root.consumer-2 cpu"
    assert english(reason(found)).startswith("It would take consumer-2 to 2 cores, and its deserved share is 1 core")
