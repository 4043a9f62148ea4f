"""What namespaces are told of what they deserve, and which Consumers are made for them."""

from typing import Any

from engine.formats.arbitrator.allocations import AllocationInputs, allocations, missing_consumers
from engine.model.objects import Allocation, AllocationCondition, ClassQuota, Consumer, Namespace
from engine.model.placement_rules import NAMESPACE_TAG, Rule, RuleName
from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.model.snapshot.resource_quotas import quota_limits, tighter_quotas
from engine.policies.deserved import share_statuses
from tests.builders import NOW, amounts, ask, node, pod, queue, snapshot, tree

SHARED = tree(
    {
        "bigdata.spark": queue("2", max="3", weight=2 * WEIGHT_ONE, namespaces=("spark",), delay_ms=60_000),
        "web": queue(namespaces=("shop",)),
        "both": queue(namespaces=("a", "b")),
    }
)
NAMESPACES = {name: Namespace(name=name) for name in ("spark", "shop", "a", "b", "stray", "kube-system")}


def picture(*objects: Any, shape: QueueTree = SHARED, **changes: Any) -> AllocationInputs:
    """Four cores, of which spark has two reserved."""
    there = snapshot(shape, node("n1", 4), *objects)
    plain: dict[str, Any] = {"namespaces": NAMESPACES, "notified_ms": {}, "less": {}, "now_ms": NOW}
    return AllocationInputs(tree=there.tree, standings=share_statuses(there, there.tree), **plain | changes)


def told(found: Allocation, condition: str) -> AllocationCondition:
    return next(one for one in found.conditions if one.type == condition)


def test_a_namespace_is_told_what_its_leaf_deserves() -> None:
    """Named as in the proposal: what is reserved and hard as in a Consumer."""
    found = allocations(picture(ask("s1", queue="bigdata.spark", cpu=3), ask("w1", queue="web")))
    assert found["spark"].deserved["cpu"] == "3"
    assert (found["spark"].hard, found["spark"].reserved) == ({"requests.cpu": "3"}, {"requests.cpu": "2"})
    assert found["shop"].deserved["cpu"] == "1"
    assert {(one.type, one.status) for one in found["shop"].conditions} == {
        ("Overused", "False"), ("ReservedKept", "True"), ("HardAboveQuota", "False"),
    }  # fmt: skip


def test_namespaces_that_share_a_leaf_and_those_that_have_none_are_told_nothing() -> None:
    """Nor the cluster's own."""
    assert sorted(allocations(picture())) == ["shop", "spark"]


def test_who_uses_more_is_told_how_much_and_once_others_ask_for_it_until_when() -> None:
    """An hour after 1970, with a minute of grace."""
    busy = [pod(f"w{number}", queue="web", node="n1") for number in range(3)]
    waits = ask("s1", queue="bigdata.spark", cpu=2)
    quiet = told(allocations(picture(*busy, waits))["shop"], "Overused")
    assert (quiet.status, quiet.reason) == ("True", "Borrows")
    assert "It uses cpu 1" in quiet.message
    asked = told(allocations(picture(*busy, waits, notified_ms={"root.web": NOW}))["shop"], "Overused")
    assert asked.reason == "AskedBack"
    assert "From 1970-01-01T01:00:30Z on its pods may be evicted." in asked.message


def test_the_grace_is_that_of_the_area_where_the_leaf_says_none() -> None:
    """As victims are chosen by it."""
    under = tree({"area": queue(delay_ms=120_000), "area.web": queue(namespaces=("shop",)), "b": queue()})
    busy = [pod(f"w{number}", queue="area.web", node="n1") for number in range(4)]
    found = allocations(picture(*busy, ask("b1", queue="b"), shape=under, notified_ms={"root.area.web": NOW}))
    assert "From 1970-01-01T01:02:00Z on" in told(found["shop"], "Overused").message


def test_a_hard_cap_above_the_quota_of_the_namespace_is_told() -> None:
    """Where there is no hard cap the quota is one; where quotas may not be read nobody knows."""
    quotas = quota_limits(
        ClassQuota(namespace=name, name="q", requests=amounts(cpu)) for name, cpu in (("spark", "2"), ("shop", "1"))
    )
    found = allocations(picture(less=tighter_quotas(SHARED, NAMESPACES, quotas)))
    above = told(found["spark"], "HardAboveQuota")
    assert (above.status, above.message) == (
        "True",
        "ResourceQuotas of the namespace allow no more than cpu 2: it deserves no more than that.",
    )
    assert told(found["shop"], "HardAboveQuota").status == "False"
    assert told(allocations(picture(less=None))["spark"], "HardAboveQuota").status == "Unknown"


def test_leaves_with_a_hard_cap_above_the_quota_of_their_namespace_are_found() -> None:
    """Those that namespaces share are nobody's consumer; a quota of something without a cap is one itself."""
    quotas = {name: amounts("2") | {"memory": 2**30} for name in ("spark", "shop", "a")}
    assert tighter_quotas(SHARED, NAMESPACES, quotas) == {"root.bigdata.spark": ("spark", {"cpu": 2000})}
    assert tighter_quotas(SHARED, NAMESPACES, {"spark": amounts("3")}) == {}
    assert tighter_quotas(SHARED, NAMESPACES, {}) == {}


def test_the_grace_period_may_be_that_of_the_area() -> None:
    """The moment that is told is the one that decisions go by."""
    shape = tree({"area": queue(delay_ms=5_000), "area.web": queue(namespaces=("shop",)), "b": queue()})
    busy = [pod(f"w{number}", queue="area.web", node="n1") for number in range(4)]
    found = allocations(picture(*busy, ask("s1", queue="b", cpu=2), shape=shape, notified_ms={"root.area.web": NOW}))
    assert "From 1970-01-01T01:00:05Z on" in told(found["shop"], "Overused").message


def test_where_the_cluster_is_too_small_for_what_is_reserved_that_is_told() -> None:
    large = tree({"a": queue("8", namespaces=("spark",))})
    kept = told(allocations(picture(shape=large))["spark"], "ReservedKept")
    assert (kept.status, kept.reason) == ("False", "ClusterTooSmall")
    assert "More cpu is reserved than there is" in kept.message


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = allocations(picture())
    later = allocations(picture(now_ms=NOW + 5_000), first.values())
    assert later == first
    busy = [pod(f"w{number}", queue="web", node="n1") for number in range(3)]
    over = allocations(picture(*busy, ask("s1", queue="bigdata.spark", cpu=2), now_ms=NOW + 5_000), first.values())
    assert told(over["shop"], "Overused").since == "1970-01-01T01:00:05Z"
    assert told(over["shop"], "ReservedKept").since == "1970-01-01T01:00:00Z"


def test_who_lost_its_leaf_is_told_that_it_deserves_nothing() -> None:
    """Instead of what it deserved once."""
    former = Allocation(namespace="stray", name="defaults", deserved={"cpu": "1"})
    found = allocations(picture(), [former])["stray"]
    assert (found.deserved, told(found, "Overused").reason) == ({}, "NoQueue")


def test_every_namespace_gets_a_consumer_that_says_what_its_leaf_says() -> None:
    """No limit and nothing reserved where the tree has no leaf for it."""
    assert missing_consumers(SHARED, NAMESPACES, []) == {
        "shop": {},
        "spark": {"hard": {"requests.cpu": "3"}, "reserved": {"requests.cpu": "2"}, "weight": 2},
        "stray": {},
    }
    known = [Consumer(namespace="spark", name="mine"), Consumer(namespace="stray", name="defaults")]
    assert missing_consumers(SHARED, NAMESPACES, known) == {"shop": {}}


def test_leaves_that_come_into_being_with_their_pods_are_told_as_well() -> None:
    """By a placement rule: a leaf for each namespace, from its first pod on."""
    rule = Rule(name=RuleName.TAG, value=NAMESPACE_TAG, create=True)
    shape = QueueTree(tree({"x": queue()}).queues.values(), (rule,))
    grown = QueueTree([*tree({"x": queue(), "shop": queue()}).queues.values()], (rule,))
    assert missing_consumers(shape, {"shop": NAMESPACES["shop"]}, []) == {"shop": {}}
    found = allocations(picture(ask("w1", namespace="shop"), shape=grown))
    assert list(found) == ["shop"]
    assert found["shop"].deserved["cpu"] == "1"
