"""A pass tells namespaces what they deserve, where the tree in force divides the cluster and their kinds are there."""

import pytest

from engine.formats.tree_json.canonical import encode_tree
from engine.model.decision import Decision, Outcome, PodFacts, Reason, ReclaimNotice
from engine.model.objects import ClassQuota, Namespace
from engine.model.snapshot.resource_quotas import TighterQuota
from scheduler_admin.clusters.connections.error_messages import told_missing
from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.allocations import tell
from scheduler_admin.worker.deserved_shares import less, standings
from tests.builders import NOW, amounts, ask, node, pod, queue, snapshot, tree
from tests.worker.watch import Watch

TREE = tree({"spark": queue("2", namespaces=("spark",)), "shop": queue(namespaces=("shop",))})
BUSY = [pod(f"w{number}", queue="shop", node="n1") for number in range(4)]
WAITS = ask("s1", queue="spark")


@pytest.fixture
def watch() -> Watch:
    watch = Watch(node("n1", 4), *BUSY, WAITS, Namespace(name="spark"), Namespace(name="shop"), Namespace(name="stray"))
    watch.watcher.arbitrated = True
    return watch


def told(watch: Watch, *decisions: Decision, policy: str = "deserved", dialect: str = "arbitrator") -> None:
    """As a pass does it."""
    at = snapshot(TREE, node("n1", 4), *BUSY, WAITS)
    tell(
        standings=standings(Revision(policy=policy, dialect=dialect), at),
        watch=watch,  # type: ignore[arg-type]  # a double
        state=watch.state,
        snapshot=at,
        less={},
        decisions=decisions,
    )


def test_it_is_told_what_it_deserves_and_who_has_no_consumer_gets_one(watch: Watch) -> None:
    told(watch)
    assert {name: one.deserved["cpu"] for name, one in watch.allocations.wanted.items()} == {"spark": "2", "shop": "2"}
    assert sorted(watch.allocations.consumers) == ["shop", "spark", "stray"]


def test_who_is_asked_to_give_back_by_this_pass_is_told_at_once(watch: Watch) -> None:
    """From the decisions of the pass, with the end of its grace."""
    notice = ReclaimNotice(queue="root.shop", over={"cpu": 2000}, due_ms=NOW + 30_000)
    decision = Decision(
        policy="deserved",
        dialect="arbitrator",
        ask=PodFacts.of(WAITS),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=Reason.GRACE,
        notices=(notice,),
    )
    told(watch, decision)
    (condition, *_) = watch.allocations.wanted["shop"].conditions
    assert (condition.type, condition.reason) == ("Overused", "AskedBack")
    assert "It uses cpu 2, pods 2 more than it deserves" in condition.message
    assert "From 1970-01-01T01:00:30Z on" in condition.message


def test_the_figures_of_a_leaf_say_where_its_hard_cap_is_above_its_quota(watch: Watch) -> None:
    """Under this policy alone."""
    capped = tree({"spark": queue(max="4", namespaces=("spark",)), "shop": queue(namespaces=("shop",))})
    watch.state.quotas["spark", "q"] = ClassQuota(namespace="spark", name="q", requests=amounts("2"))
    document = encode_tree(capped).decode()
    found = less(Revision(policy="deserved", dialect="arbitrator", document=document), watch.state)
    assert found == {"root.spark": TighterQuota("spark", {"cpu": 2000})}
    assert less(Revision(policy="fence", dialect="design", document=document), watch.state) == {}


@pytest.mark.parametrize(("policy", "dialect"), [("fence", "design"), ("deserved", "volcano")])
def test_under_other_policies_nothing_is_written(watch: Watch, policy: str, dialect: str) -> None:
    """Nor by the dialect that only explains another scheduler."""
    told(watch, policy=policy, dialect=dialect)
    assert (watch.allocations.wanted, watch.allocations.consumers) == ({}, {})


def test_where_the_kinds_are_not_served_nothing_is_written_and_nothing_is_wrong(watch: Watch) -> None:
    watch.watcher.arbitrated = False
    watch.allocations.trouble = "it was refused"
    told(watch)
    assert (watch.allocations.wanted, watch.allocations.trouble) == ({}, "")


def test_quotas_that_may_not_be_read_are_not_taken_for_none(watch: Watch) -> None:
    watch.watcher.missing = {"ResourceQuota": "forbidden"}
    told(watch)
    assert watch.allocations.wanted["spark"].conditions[-1].status == "Unknown"


def test_what_can_not_be_written_is_told_among_what_passes_do_without() -> None:
    assert told_missing({"Allocations (written)": "The credentials may not."}) == [
        (
            "Allocations can’t be written (The credentials may not), so they don’t show the deserved share of each "
            "namespace."
        )
    ]
