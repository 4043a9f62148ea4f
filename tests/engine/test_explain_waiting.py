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
        ([], "No max limits it."),
        ([cpu(2000, 9000), cpu(2000, 3000, where="root.t")], "t has 3 cores left below its max, which is enough."),
        (
            [cpu(2000, 1500, 1000)],
            "prod has only 1500m cpu left below its max, but evictions inside it can free the rest.",
        ),
        ([cpu(2000, 1000)], "prod has only 1 core left below its max, and this pod requests 2 cores."),
        ([cpu(2000, -1000)], "prod has only 0 cores left below its max, and this pod requests 2 cores."),
    ],
)
def test_a_max_is_told_by_what_is_left_under_the_tightest(needs: list[Need], sentence: str) -> None:
    """Never less than nothing."""
    assert said(TierName.QUOTA, needs) == sentence


@pytest.mark.parametrize(
    ("name", "need", "passes", "sentence"),
    [
        (
            TierName.POTENTIAL,
            cpu(2000, 3000),
            True,
            "prod could get 3 cores if no other queue used any, which is enough.",
        ),
        (
            TierName.POTENTIAL,
            cpu(2000, 1000),
            False,
            "prod could get at most 1 core, even if no other queue used any, and the request is 2 cores.",
        ),
        (TierName.AVAILABLE, cpu(2000, 3000), True, "prod can get 3 cores more now, which is enough."),
        (
            TierName.AVAILABLE,
            cpu(2000, 500, 4000),
            True,
            "prod can get only 500m cpu more now, but evictions can free the rest.",
        ),
        (
            TierName.AVAILABLE,
            cpu(2000, 500, 4000),
            False,
            "prod can get only 500m cpu more now, and the request is 2 cores. Evictions do not free the rest.",
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
                "prod has 3 cores of its guarantee left, and this pod requests 2 cores. YuniKorn "
                "lets a pod preempt if its whole request is guaranteed."
            ),
        ),
        (
            [cpu(2000, -1000, 4000)],
            "prod has only 0 cores of its guarantee left, but YuniKorn also counts what others give up.",
        ),
        (
            [cpu(2000, 3000), cpu(4000, 1000)],
            (
                "prod has only 1 core of its guarantee left, and this pod requests 4 cores. "
                "YuniKorn lets a pod preempt only if its whole request is guaranteed."
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
        ([cpu(1, 500)], {}, "prod has 500m cpu of its guarantee left, so its pods can preempt others."),
        (
            [cpu(1, 0), Need(where="root.t", resource="gpu", required=1, available=4)],
            {},
            "prod already uses its whole guarantee of cpu. Only queues below their guarantee can preempt.",
        ),
        (
            [cpu(1, -40_000)],
            {},
            "prod is 40 cores above its guarantee. Only queues below their guarantee can preempt.",
        ),
        (
            [cpu(1, -2000)],
            {"shut": "root.t.prod"},
            "Neither its queue nor any parent queue has a guarantee for what it requests, so it can’t preempt.",
        ),
    ],
)
def test_a_guarantee_is_told_by_what_is_used_up(needs: list[Need], more: dict[str, str], sentence: str) -> None:
    """Or that there is none."""
    assert said(TierName.GUARANTEE, needs, **more) == sentence


def test_a_fence_is_told_by_whom_it_leaves() -> None:
    """Queues with how many of their pods; nobody, with what keeps them out."""
    reached = (Reached(queue="root.a", pods=2, spare={}), Reached(queue="root.b", pods=1, spare={}))
    assert said(TierName.FENCE, [pods(3)], reached=reached) == "Queues within reach have 3 pods to spare, in a, b."
    assert said(TierName.FENCE, [pods(1)], reached=reached[:1]) == "Queues within reach have 1 pod to spare, in a."
    assert said(TierName.FENCE, [pods(0, "root.t")]) == "No queue within the fence of t has pods to spare."
    assert said(TierName.FENCE, [pods(0)]) == "No queue within reach has pods to spare."
    assert said(TierName.FENCE, [pods(0)], shut="root.t") == "Preemption is disabled in t."


def test_a_priority_is_told_by_who_may_go_for_it() -> None:
    """And what they hold."""
    assert said(TierName.PRIORITY, [pods(2)], held={"cpu": 3000, "memory": GIB}) == (
        "2 pods can be preempted at its priority, 5. Together they hold cpu 3, memory 1Gi."
    )
    assert said(TierName.PRIORITY, [pods(2)]) == "Some pods can be preempted at its priority, 5."
    assert said(TierName.PRIORITY, [pods(0)]) == "No pod can be preempted at its priority, 5."
    assert said(TierName.PRIORITY, [pods(0)], shut="meek") == (
        "Its priority class meek does not allow preemption (preemptionPolicy: Never)."
    )


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        (node(1, cpu(1000, 1000, where="n1")), "n1 has room for it."),
        (node(1, cpu(1000, 0, 1000, where="n1")), "Evictions make room for it on n1."),
        (
            node(0, cpu(4000, 1000, 1000, where="n1"), MEMORY),
            "No node has room, even after evictions. n1 is closest: it lacks cpu 2, memory 3Gi.",
        ),
        (
            node(0, cpu(1000, 1000, where="n1")),
            "No node has room, and no pods can be preempted together to make it, although n1 comes close.",
        ),
        (node(0), "No node accepts it, regardless of free capacity."),
    ],
)
def test_a_node_is_told_by_what_the_nearest_lacks(needs: list[Need], sentence: str) -> None:
    """Or that none is near."""
    assert said(TierName.NODE, needs) == sentence


@pytest.mark.parametrize(
    ("name", "passes", "sentence"),
    [
        (TierName.QUOTA, False, "A parent queue has too little left below its max."),
        (
            TierName.GUARANTEE,
            True,
            "A parent queue has some of its guarantee left, so this pod can preempt others.",
        ),
        (
            TierName.GUARANTEE,
            False,
            "A parent queue already uses its whole guarantee. Only queues below their guarantee can preempt.",
        ),
        (TierName.HARD, False, "A parent queue has too little left below its hard cap."),
        (TierName.OVERUSED, True, "Other queues use more than their deserved share of what this pod requests."),
        (TierName.RESERVED, True, "Pods of other queues can be preempted for it without touching a reservation."),
        (TierName.FENCE, True, "Queues within reach have pods to spare."),
        (TierName.PRIORITY, True, "Some pods can be preempted at its priority, 5."),
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
        (Remedy(change=Change.REQUEST, smaller={"cpu": 500}), "if the pod requested 500m cpu less."),
        (
            Remedy(change=Change.REQUEST, smaller={"cpu": 500, "memory": GIB}),
            "if the pod requested cpu 500m, memory 1Gi less.",
        ),
        (Remedy(change=Change.MAX, queues={"root.t": {"cpu": 2000}}), "if the max of t were cpu 2."),
        (
            Remedy(change=Change.MAX, queues={"root.t": {"cpu": 2000}, "root.t.a": {"cpu": 1000}}),
            "with these max settings: t cpu 2, a cpu 1.",
        ),
        (
            Remedy(change=Change.HARD, queues={"root.t": {"cpu": 2000}}),
            "if the hard cap of t were cpu 2.",
        ),
        (
            Remedy(change=Change.HARD, queues={"root.t": {"cpu": 2000}, "root.t.a": {"cpu": 1000}}),
            "with these hard caps: t cpu 2, a cpu 1.",
        ),
        (
            Remedy(change=Change.RESERVED, queues={"root.t": {"cpu": 2000}}),
            "if t had a reservation of cpu 2.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}}),
            "if the guarantee of t were above cpu 2.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}, "root.t.a": {"gpu": 2}}),
            "with guarantees above these: t cpu 2, a gpu 1.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t.a": {"cpu": 2001}}, unkept="root.t"),
            "if the guarantee of a were above cpu 2. The guarantee or the max of t must be raised too.",
        ),
        (
            Remedy(change=Change.GUARANTEE, queues={"root.t": {"cpu": 2001}, "root.t.a": {"gpu": 2}}, unkept="root"),
            "with guarantees above these: t cpu 2, a gpu 1. The guarantee or the max of root must be raised too.",
        ),
        (Remedy(change=Change.FENCE, queues={"root.t": {}}), "if t had no fence."),
        (Remedy(change=Change.PRIORITY, priority=7), "with priority 7."),
        (Remedy(change=Change.MAY_PREEMPT), "if its priority class allowed preemption."),
    ],
)
def test_a_remedy_says_whether_it_is_enough(remedy: Remedy, end: str) -> None:
    """To get room, or only past the tier."""
    enough = msgspec.structs.replace(remedy, enough=True)
    assert whole(remedy_sentence(remedy)) == f"This check would pass {end}"
    assert whole(remedy_sentence(enough)) == f"It would get room {end.replace('the pod', 'it')}"


def test_of_deserved_shares_who_gives_who_stays_and_until_when_is_said() -> None:
    """Other tenants' queues are not named, nor pods counted."""
    own = ReclaimNotice(queue="root.t", over={"cpu": 1000}, due_ms=NOW)
    grace = Tier(name=TierName.GRACE, passes=False, notices=(own,))
    assert tier_sentence(grace, 5).params == {"queues": "t", "due": Timestamp(NOW)}
    assert whole(tier_sentence(grace, 5)).startswith("t was asked to give back and can choose which pods to stop until")
    hidden = msgspec.structs.replace(grace, notices=(own, ReclaimNotice(queue="", over={}, due_ms=NOW + 1)))
    assert tier_sentence(hidden, 5).params == {"due": Timestamp(NOW + 1)}
    assert said(TierName.OVERUSED, [pods(0)]).startswith("No other queue within reach uses more than")
    assert said(TierName.OVERUSED, [pods(0, "root.t")]).startswith("Within the fence of t, no other queue")
    reached = (Reached(queue="root.t", pods=2, spare={}), Reached(queue="root.a", pods=1, spare={}))
    assert said(TierName.OVERUSED, [pods(3)], reached=reached).startswith(
        "2 other queues use more than their deserved share"
    )
    assert said(TierName.RESERVED, [pods(2)], held={"cpu": 2000}).endswith("Together they hold cpu 2.")
    for staying, part in (
        ({}, "No pod of another queue can be preempted for it."),
        ({"guarantee": 1}, "what they use is reserved"),
        ({"over-budget": 1}, "each is protected"),
        ({"guarantee": 1, "over-budget": 3}, "each is part of a reservation"),
    ):
        assert part in said(TierName.RESERVED, [pods(0)], staying=staying)
    told = staying_pods(Tier.of(TierName.RESERVED, [pods(0)], staying={"guarantee": 1, "over-budget": 3}))
    assert [(whole(label), count) for label, count in told] == [("exceeds disruption budget", 3), ("reserved", 1)]


def test_room_on_any_nodes_is_said_of_all_together() -> None:
    """Where victims need not be on one."""
    short = Need(resource="cpu", required=4000, available=1000, evictable=1000)
    assert (
        said(TierName.NODE, node(0, short))
        == "All nodes together lack 2 cores for it, even after every possible eviction."
    )
    enough = Need(resource="cpu", required=2000, available=1000, evictable=1000)
    assert said(TierName.NODE, node(1, enough)) == "Evictions free enough for it on all nodes together."
    assert said(TierName.NODE, node(0, enough)).startswith("No pods can be preempted together to make room for it")


def test_what_stands_around_the_tiers_has_words_too() -> None:
    """Their names, nodes by reason, asks ahead."""
    assert [whole(tier_label(name)) for name in TierName] == [
        "Considered by Kueue",
        "Its group",
        "Scheduling gates",
        "Hard cap",
        "Deserved share",
        "Above deserved share",
        "Max",
        "Guarantee",
        "Fence",
        "Highest possible quota",
        "Priority",
        "Possible victims",
        "Grace period",
        "Room on a node",
        "Room for the group",
        "Remaining quota",
    ]
    refused = rejecting_nodes(Tier.of(TierName.NODE, node(0), refusing={"taint": 1, "not-enough": 3}))
    assert [(whole(label), count) for label, count in refused] == [("not enough", 3), ("taint", 1)]
    assert whole(pods_ahead(Ahead(cluster=0, queue=0))) == "No other pod is ahead of it."
    assert whole(pods_ahead(Ahead(cluster=3, queue=1))) == "3 other pods are ahead of it (1 in its own queue)."
    assert whole(all_remedies()) == "It would get room with the first change of each failed check together."
