"""Why an ask waits, in words: every tier, let through or not, told in full or without what is somebody else's."""

import msgspec
import pytest

from engine.analysis.pending_reasons import NODES, Ahead, Need, Reached, Remedy, Tier, TierName
from engine.explain import (
    Timestamp,
    all_remedies,
    pods_ahead,
    rejecting_nodes,
    remedy_sentence,
    staying_pods,
    tier_label,
    tier_sentence,
)
from engine.model.change import Change
from engine.model.decision import ReclaimNotice
from tests.builders import NOW
from tests.engine.test_explain import whole

GIB = 2**30


def cpu(required: int, available: int, evictable: int = 0, where: str = "root.t.prod") -> Need:
    """Cores in thousandths."""
    return Need(where=where, resource="cpu", required=required, available=available, evictable=evictable)


def pods(count: int, where: str = "") -> Need:
    """At least one pod."""
    return Need(where=where, resource="pods", required=1, available=count)


def node(count: int, *more: Need) -> list[Need]:
    """At least one node, and what the nearest has."""
    return [Need(resource=NODES, required=1, available=count), *more]


MEMORY = Need(where="n1", resource="memory", required=4 * GIB, available=GIB)


def said(name: TierName, needs: list[Need], **more: object) -> str:
    """The sentence of a tier for an ask of priority 5."""
    return whole(tier_sentence(Tier.of(name, needs, **more), 5))


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        ([], "No max stands in its way."),
        ([cpu(2000, 9000), cpu(2000, 3000, where="root.t")], "t has 3 cores left under its max, and that is enough."),
        (
            [cpu(2000, 1500, 1000)],
            "prod has only 1500m cpu left under its max, but evictions below it can make up the rest.",
        ),
        ([cpu(2000, 1000)], "prod has only 1 core left under its max, and this pod asks 2 cores."),
        ([cpu(2000, -1000)], "prod has only 0 cores left under its max, and this pod asks 2 cores."),
    ],
)
def test_a_max_is_told_by_what_is_left_under_the_tightest(needs: list[Need], sentence: str) -> None:
    """Never less than nothing."""
    assert said(TierName.QUOTA, needs) == sentence


@pytest.mark.parametrize(
    ("name", "need", "passes", "sentence"),
    [
        (TierName.MOST, cpu(2000, 3000), True, "prod could have 3 cores if nobody else used any, and that is enough."),
        (
            TierName.MOST,
            cpu(2000, 1000),
            False,
            "prod could have at most 1 core, even if nobody else used any, and this asks 2 cores.",
        ),
        (TierName.LEFT, cpu(2000, 3000), True, "prod could have 3 cores more now, and that is enough."),
        (
            TierName.LEFT,
            cpu(2000, 500, 4000),
            True,
            "prod could have only 500m cpu more now, but evictions can make up the rest.",
        ),
        (
            TierName.LEFT,
            cpu(2000, 500, 4000),
            False,
            "prod could have only 500m cpu more now, this asks 2 cores, and evictions do not make up the rest.",
        ),
    ],
)
def test_quota_is_told_by_what_there_is_of_the_scarcest(
    name: TierName, need: Need, passes: bool, sentence: str
) -> None:
    """What evictions would free may be enough by its sum, and still not go together."""
    assert whole(tier_sentence(Tier(name=name, passes=passes, needs=(need, cpu(100, 9000))), 5)) == sentence


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        (
            [cpu(2000, 3000)],
            (
                "Of its guarantee prod has 3 cores left, and this pod asks 2 cores: YuniKorn lets a pod preempt where "
                "all that it asks is guaranteed."
            ),
        ),
        (
            [cpu(2000, -1000, 4000)],
            "Of its guarantee prod has only 0 cores left, but YuniKorn counts what others give up as well.",
        ),
        (
            [cpu(2000, 3000), cpu(4000, 1000)],
            (
                "Of its guarantee prod has only 1 core left, and this pod asks 4 cores: YuniKorn lets a pod preempt "
                "only where all that it asks is guaranteed."
            ),
        ),
    ],
)
def test_of_yunikorn_all_of_an_ask_has_to_be_guaranteed(needs: list[Need], sentence: str) -> None:
    """Told by the resource of which the least is there."""
    assert said(TierName.GUARANTEE, needs) == sentence


@pytest.mark.parametrize(
    ("needs", "more", "sentence"),
    [
        ([cpu(1, 500)], {}, "prod has 500m cpu of its guarantee left, so its pods may preempt others."),
        (
            [cpu(1, -2000), Need(where="root.t", resource="gpu", required=1, available=4)],
            {},
            "prod already uses all the cpu that it is guaranteed: only a queue below its guarantee may preempt.",
        ),
        (
            [cpu(1, -2000)],
            {"shut": "root.t.prod"},
            "Neither its queue nor any queue above is guaranteed any of what it asks, so it may preempt nobody.",
        ),
    ],
)
def test_a_guarantee_is_told_by_what_is_used_up(needs: list[Need], more: dict[str, str], sentence: str) -> None:
    """Or that there is none."""
    assert said(TierName.GUARANTEE, needs, **more) == sentence


def test_a_fence_is_told_by_whom_it_leaves() -> None:
    """Queues with how many of their pods; nobody, with what keeps them out."""
    reached = (Reached(queue="root.a", pods=2, spare={}), Reached(queue="root.b", pods=1, spare={}))
    assert said(TierName.FENCE, [pods(3)], reached=reached) == (
        "Preemption reaches 3 pods that their queues can spare, in a, b."
    )
    assert said(TierName.FENCE, [pods(1)], reached=reached[:1]).startswith("Preemption reaches 1 pod that its queue")
    assert said(TierName.FENCE, [pods(0, "root.t")]) == (
        "The fence of t leaves nobody to take from: no pod within it can be spared."
    )
    assert said(TierName.FENCE, [pods(0)]) == "No queue that preemption reaches has a pod to spare."
    assert said(TierName.FENCE, [pods(0)], shut="root.t") == "Preemption is disabled in t."


def test_a_priority_is_told_by_who_may_go_for_it() -> None:
    """And what they hold."""
    assert said(TierName.PRIORITY, [pods(2)], held={"cpu": 3000, "memory": GIB}) == (
        "2 pods may go for one of its priority, 5. Together they hold cpu 3, memory 1Gi."
    )
    assert said(TierName.PRIORITY, [pods(2)]) == "Pods may go for one of its priority, 5."
    assert said(TierName.PRIORITY, [pods(0)]) == "No pod may go for one of its priority, 5."
    assert said(TierName.PRIORITY, [pods(0)], shut="meek") == (
        "Its priority class meek does not let it preempt (preemptionPolicy Never)."
    )


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        (node(1, cpu(1000, 1000, where="n1")), "n1 has room for it."),
        (node(1, cpu(1000, 0, 1000, where="n1")), "On n1 evictions make room for it."),
        (
            node(0, cpu(4000, 1000, 1000, where="n1"), MEMORY),
            "No node has room, and evictions make none. n1 comes nearest: it lacks cpu 2, memory 3Gi.",
        ),
        (
            node(0, cpu(1000, 1000, where="n1")),
            "No node has room, and no pods that may go together make it, though n1 comes near.",
        ),
        (node(0), "No node may take it, whatever is free on it."),
    ],
)
def test_a_node_is_told_by_what_the_nearest_lacks(needs: list[Need], sentence: str) -> None:
    """Or that none is near."""
    assert said(TierName.NODE, needs) == sentence


@pytest.mark.parametrize(
    ("name", "passes", "sentence"),
    [
        (TierName.QUOTA, False, "A queue above its own has too little left under its max."),
        (
            TierName.GUARANTEE,
            True,
            "A queue above its own has something of its guarantee left, so it may preempt others.",
        ),
        (
            TierName.GUARANTEE,
            False,
            (
                "A queue above its own already uses all that it is guaranteed: only a queue below its guarantee may "
                "preempt."
            ),
        ),
        (TierName.HARD, False, "A queue above its own has too little left under its hard cap."),
        (TierName.OVERUSED, True, "Other queues use more than they deserve of what this asks."),
        (TierName.GIVING, True, "Pods of others may go for it, and what is reserved for anybody stays."),
        (TierName.FENCE, True, "Preemption reaches pods that their queues can spare."),
        (TierName.PRIORITY, True, "Pods may go for one of its priority, 5."),
    ],
)
def test_without_the_amounts_that_are_kept_back_no_amount_is_made_up(
    name: TierName, passes: bool, sentence: str
) -> None:
    """What is told to tenants where the queues are not theirs."""
    assert whole(tier_sentence(Tier(name=name, passes=passes), 5)) == sentence
    if name in (TierName.QUOTA, TierName.HARD, TierName.GUARANTEE) and not passes:
        assert whole(tier_sentence(Tier(name=name, passes=passes, needs=(cpu(1, 9),)), 5)) == sentence


@pytest.mark.parametrize(
    ("remedy", "end"),
    [
        (Remedy(change=Change.REQUEST, smaller={"cpu": 500}), "if it asked 500m cpu less."),
        (Remedy(change=Change.REQUEST, smaller={"cpu": 500, "memory": GIB}), "if it asked cpu 500m, memory 1Gi less."),
        (Remedy(change=Change.MAX, queues={"root.t": {"cpu": 2000}}), "if this were the max of t: cpu 2."),
        (
            Remedy(change=Change.MAX, queues={"root.t": {"cpu": 2000}, "root.t.a": {"cpu": 1000}}),
            "if these were the max: t cpu 2, a cpu 1.",
        ),
        (Remedy(change=Change.HARD, queues={"root.t": {"cpu": 2000}}), "if this were the hard cap of t: cpu 2."),
        (
            Remedy(change=Change.HARD, queues={"root.t": {"cpu": 2000}, "root.t.a": {"cpu": 1000}}),
            "if these were the hard caps: t cpu 2, a cpu 1.",
        ),
        (Remedy(change=Change.RESERVED, queues={"root.t": {"cpu": 2000}}), "if this were reserved for t: cpu 2."),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}}),
            "if t were guaranteed more than this: cpu 2.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}, "root.t.a": {"gpu": 2}}),
            "if these queues were guaranteed more than this: t cpu 2, a gpu 1.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t.a": {"cpu": 2001}}, unkept="root.t"),
            "if a were guaranteed more than this: cpu 2. For that the guarantee or the max of t has to be raised, too.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}, "root.t.a": {"gpu": 2}}, unkept="root"),
            (
                "if these queues were guaranteed more than this: t cpu 2, a gpu 1. "
                "For that the guarantee or the max of root has to be raised, too."
            ),
        ),
        (Remedy(change=Change.FENCE, queues={"root.t": {}}), "if t were no fence."),
        (Remedy(change=Change.PRIORITY, priority=7), "with priority 7."),
        (Remedy(change=Change.MAY_PREEMPT), "if its priority class let it preempt."),
    ],
)
def test_a_remedy_says_whether_it_is_enough(remedy: Remedy, end: str) -> None:
    """To get room, or only past the tier."""
    enough = msgspec.structs.replace(remedy, enough=True)
    assert whole(remedy_sentence(remedy)) == f"It would pass this {end}"
    assert whole(remedy_sentence(enough)) == f"It would get room {end}"


def test_of_deserved_shares_who_gives_who_stays_and_until_when_is_said() -> None:
    """Other tenants' queues are not named, nor pods counted."""
    own = ReclaimNotice(queue="root.t", over={"cpu": 1000}, due_ms=NOW)
    grace = Tier(name=TierName.GRACE, passes=False, notices=(own,))
    assert tier_sentence(grace, 5).params == {"queues": "t", "due": Timestamp(NOW)}
    assert whole(tier_sentence(grace, 5)).startswith("t is told to give back, and until")
    hidden = msgspec.structs.replace(grace, notices=(own, ReclaimNotice(queue="", over={}, due_ms=NOW + 1)))
    assert tier_sentence(hidden, 5).params == {"due": Timestamp(NOW + 1)}
    assert said(TierName.OVERUSED, [pods(0)]).startswith("No other queue that preemption reaches")
    assert said(TierName.OVERUSED, [pods(0, "root.t")]).startswith("Within the fence of t no other queue")
    reached = (Reached(queue="root.t", pods=2, spare={}), Reached(queue="root.a", pods=1, spare={}))
    assert said(TierName.OVERUSED, [pods(3)], reached=reached).startswith("2 other queues use more than they deserve")
    assert said(TierName.GIVING, [pods(2)], held={"cpu": 2000}).endswith("Together they hold cpu 2.")
    for staying, part in (
        ({}, "No pod of others may go for it."),
        ({"guarantee": 1}, "what they use is reserved"),
        ({"over-budget": 1}, "each is protected"),
        ({"guarantee": 1, "over-budget": 3}, "each is needed for what is reserved"),
    ):
        assert part in said(TierName.GIVING, [pods(0)], staying=staying)
    told = staying_pods(Tier.of(TierName.GIVING, [pods(0)], staying={"guarantee": 1, "over-budget": 3}))
    assert [(whole(label), count) for label, count in told] == [("beyond its disruption budget", 3), ("reserved", 1)]


def test_room_on_any_nodes_is_said_of_all_together() -> None:
    """Where victims need not be on one."""
    short = Need(resource="cpu", required=4000, available=1000, evictable=1000)
    assert said(TierName.NODE, node(0, short)) == "All nodes together lack 2 cores for it, whatever is evicted."
    enough = Need(resource="cpu", required=2000, available=1000, evictable=1000)
    assert said(TierName.NODE, node(1, enough)) == "Evictions make so much room for it on all nodes together."
    assert said(TierName.NODE, node(0, enough)).startswith("No pods that may go together make room for it")


def test_what_stands_around_the_tiers_has_words_too() -> None:
    """Their names, nodes by reason, asks ahead."""
    assert [whole(tier_label(name)) for name in TierName] == [
        "Considered by Kueue",
        "Hard cap",
        "Deserved",
        "More than deserved",
        "Max",
        "Guarantee",
        "Fence",
        "Quota at most",
        "Priority",
        "Who may go",
        "Grace period",
        "Room on a node",
        "Quota left",
    ]
    refused = rejecting_nodes(Tier.of(TierName.NODE, node(0), refusing={"taint": 1, "not-enough": 3}))
    assert [(whole(label), count) for label, count in refused] == [("not enough", 3), ("taint", 1)]
    assert whole(pods_ahead(Ahead(cluster=0, queue=0))) == "No other pod is considered before it."
    assert whole(pods_ahead(Ahead(cluster=3, queue=1))) == (
        "3 other pods are considered before it; of its own queue: 1."
    )
    assert whole(all_remedies()) == "With the first change of every part together it would get room."
