"""Policies ``cohort`` and ``fair-share`` on the pods of a cluster: who asks, who goes, and what is kept for whom."""

from typing import Any

import msgspec
import pytest

from engine.analysis.counterfactuals import Again, counterfactuals, counterfactuals_of_victim
from engine.audit import audit, failed_checks
from engine.audit.audit_state import AuditState
from engine.explain import change_sentence
from engine.model.change import Change
from engine.model.decision import Decision, Outcome, PodReason, Reason, apply_decision, decode, encode
from engine.model.objects import Pod
from engine.model.queue_tree import Take
from engine.model.snapshot import Protection, Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import audit_terms, policy
from tests.builders import ask, named, node, pod, queue, snapshot, tree, victims_of

TWO = tree({"a": queue("4"), "b": queue("4")})
"""Two queues that lend each other what they do not use."""


def decided(at: Snapshot, name: str, *, fair: bool = False, **parameters: Any) -> Decision:
    """By whichever of both, its laws kept."""
    policy_name = "fair-share" if fair else "cohort"
    decide = policy(policy_name, "kueue", parameters)
    found = decide(at, at.tree, named(at, name))
    assert not failed_checks(audit(at, at.tree, found, terms=audit_terms(policy_name, "kueue", parameters)))
    assert decode(encode(found)) == found
    return found


def planned(at: Snapshot, *, fair: bool = False) -> list[AuditedDecision]:
    """All asks of a moment, each on what the former left."""
    return plan(at, at.tree, policy("fair-share" if fair else "cohort", "kueue"))


def running(of: str, *cpus: int, **settings: Any) -> list[Pod]:
    """Pods of a queue on the one node, each of a ReplicaSet of its own."""
    return [pod(f"{of}{number}", queue=of, cpu=cpu, node="n1", **settings) for number, cpu in enumerate(cpus)]


def test_what_a_queue_lent_it_claims_back() -> None:
    """The victim is of the queue that borrows, and no node is named."""
    at = snapshot(TWO, node(cpu=8), running("b", 2, 2, 2), ask("x", queue="a", cpu=4))
    found = decided(at, "x")
    assert (found.outcome, found.reason, found.node) == (Outcome.PREEMPT, Reason.SHORT_OF_QUOTA, None)
    assert [one.reason for one in found.victims] == [PodReason.RECLAIMED]
    assert found.trace.short[0].available == 2_000
    before_after = {one.path: (one.before["cpu"], one.after["cpu"]) for one in found.trace.queues if one.before}
    assert before_after == {"root": (6_000, 8_000), "root.b": (6_000, 4_000)}


def test_quota_alone_counts_whatever_nodes_have() -> None:
    """No node has room for it, and none is needed."""
    found = decided(snapshot(TWO, node(cpu=1), ask("x", queue="a", cpu=8)), "x")
    assert (found.outcome, found.reason, found.node) == (Outcome.FITS, Reason.FITS, None)


def test_what_no_queue_says_anything_of_is_without_limit() -> None:
    """Memory does not count, cpu does."""
    at = snapshot(TWO, node(), ask("x", queue="a", cpu=9, resources={"memory": "1Ti"}))
    found = decided(at, "x")
    assert (found.reason, found.detail) == (Reason.BEYOND_QUOTA, "root.a cpu")
    assert [one.resource for one in found.trace.short] == ["cpu"]


def test_pods_of_a_job_go_as_a_whole_and_those_of_a_replica_set_one_by_one() -> None:
    """As in Kueue, where every pod of a Deployment is a workload of its own."""
    for controller, gone in (
        ("Job/j", ["b0", "b1", "b2"]),
        ("ReplicaSet/r", ["b0"]),
        ("StatefulSet/s", ["b0", "b1", "b2"]),
    ):
        alike = running("b", 2, 2, 2, controller=controller, application_label="app")
        at = snapshot(TWO, node(), alike, ask("x", queue="a", cpu=4))
        assert victims_of(decided(at, "x")) == gone


def test_pods_of_a_group_are_one_workload_whoever_made_them() -> None:
    """By the label that Kueue's users give them."""
    group = {"kueue.x-k8s.io/pod-group-name": "g"}
    at = snapshot(TWO, node(), running("b", 2, 2, 2, labels=group), ask("x", queue="a", cpu=4))
    assert victims_of(decided(at, "x")) == ["b0", "b1", "b2"]


def test_all_waiting_pods_of_a_workload_are_decided_for_at_once() -> None:
    """The first in turn asks for all, the others say so, and nothing is taken twice."""
    asks = [ask(f"x{number}", queue="a", cpu=2, controller="Job/x") for number in range(2)]
    at = snapshot(TWO, node(), running("b", 2, 2, 2), asks)
    first, second = (one.decision for one in planned(at))
    assert (len(first.victims), [one.name for one in first.together]) == (1, ["x1"])
    assert (second.outcome, second.reason, second.detail) == (Outcome.NOT_ELIGIBLE, Reason.DECIDED_WITH, "ns/x0")


def test_quota_that_was_given_is_kept_from_those_who_ask_next() -> None:
    """Two asks of 4 where 4 are free: the second finds nothing left, and may take nothing."""
    asks = [ask(name, queue="a", cpu=4) for name in ("x", "y")]
    at = snapshot(TWO, node(), running("b", 4), asks)
    first, second = (one.decision for one in planned(at))
    assert first.outcome is Outcome.FITS
    assert (second.outcome, second.reason) == (Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES)
    later = apply_decision(at, first)
    assert [(one.ask_uid, one.node) for one in later.reservations] == [("uid-x", "")]


def test_what_leaves_is_counted_as_gone() -> None:
    """Nobody else has to go for it."""
    leaving = [pod("b9", queue="b", cpu=4, node="n1", terminating=True)]
    found = decided(snapshot(TWO, node(), running("b", 4), leaving, ask("x", queue="a", cpu=4)), "x")
    assert (found.outcome, found.reason) == (Outcome.FITS, Reason.FITS_SOON)


def test_a_queue_says_itself_whom_its_asks_may_take() -> None:
    """Its own rules go before the policy's parameters."""
    said = tree({"a": queue("4", take_reclaim=Take.NEVER), "b": queue("4")})
    for where, parameters in ((said, {}), (TWO, {"reclaim": "Never"})):
        at = snapshot(where, node(), running("b", 2, 2, 2), ask("x", queue="a", cpu=4))
        found = decided(at, "x", **parameters)
        assert (found.outcome, found.reason) == (Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES)
        assert found.trace.excluded_counts == {"rules": 3}


def test_in_its_own_queue_an_ask_takes_lower_priorities() -> None:
    """And leaves the equal ones."""
    at = snapshot(TWO, node(), running("a", 2, 2, priority=1), running("b", 4), ask("x", queue="a", cpu=2, priority=2))
    found = decided(at, "x")
    assert [one.reason for one in found.victims] == [PodReason.IN_QUEUE]
    equal = snapshot(TWO, node(), running("a", 2, 2), running("b", 4), ask("x", queue="a", cpu=2))
    assert decided(equal, "x").trace.excluded_counts == {"higher-priority": 2, "not-borrowing": 1}


def test_a_fence_is_a_border_that_nothing_is_lent_across() -> None:
    """The fenced queue has what it is guaranteed, and no more."""
    fenced = tree({"a": queue("4", fence=True), "b": queue("4")})
    at = snapshot(fenced, node(), running("b", 2, 2, 2), ask("x", queue="a", cpu=4), ask("y", queue="a", cpu=5))
    assert decided(at, "x").outcome is Outcome.FITS
    assert decided(at, "y").reason is Reason.BEYOND_QUOTA


def test_protected_pods_and_all_that_would_go_with_them_stay() -> None:
    """One pod of the workload is shielded, so the whole is."""
    bare = [pod(f"b{number}", queue="b", cpu=3, node="n1", controller="", app="job") for number in range(2)]
    at = snapshot(TWO, node(), bare, ask("x", queue="a", cpu=4), protection=Protection())
    found = decided(at, "x")
    assert (found.outcome, found.trace.excluded_counts) == (Outcome.NO_CANDIDATE, {"shielded": 2})


def test_where_preemption_is_disabled_pods_neither_preempt_nor_go() -> None:
    """Of whichever side it is."""
    shut = tree({"a": queue("4"), "b": queue("4", disabled=True)})
    at = snapshot(shut, node(), running("b", 3, 3), ask("x", queue="a", cpu=4))
    assert decided(at, "x").trace.excluded_counts == {"preemption-disabled": 2}
    other = tree({"a": queue("4", disabled=True), "b": queue("4")})
    again = snapshot(other, node(), running("b", 3, 3), ask("x", queue="a", cpu=4))
    assert decided(again, "x").reason is Reason.DISABLED


def test_who_never_preempts_takes_nothing() -> None:
    """But what fits it gets."""
    at = snapshot(TWO, node(), running("b", 3, 3), ask("x", queue="a", cpu=4, never_preempts=True))
    assert decided(at, "x").reason is Reason.NEVER
    assert decided(snapshot(TWO, node(), ask("x", queue="a", never_preempts=True)), "x").outcome is Outcome.FITS


def test_a_pod_of_no_queue_has_no_quota() -> None:
    """Whatever it asks."""
    assert decided(snapshot(TWO, node(), ask("x")), "x").reason is Reason.NO_QUEUE


def test_a_pod_that_cannot_be_read_leaves_all_that_share_quota_with_it_undecided() -> None:
    """Nobody knows what its queue uses."""
    unread = [pod("b9", queue="b", node="n1", unread=True)]
    found = decided(snapshot(TWO, node(), unread, ask("x", queue="a")), "x")
    assert (found.reason, found.detail) == (Reason.UNREAD, "root.b")


THREE = tree({name: queue("4") for name in "abc"})


def test_under_fair_sharing_the_largest_share_gives_and_shares_are_told() -> None:
    """a borrows 4 of the 12 that there are, and stays above: 4 of 12 is 333.3 thousandths."""
    at = snapshot(THREE, node(), running("b", 2, 2, 2, 2), running("c", 3, 1), ask("x", queue="a", cpu=2))
    found = decided(at, "x", fair=True)
    assert [one.reason for one in found.victims] == [PodReason.RECLAIMED]
    assert {one.pod.queue for one in found.victims} == {"root.b"}
    shares = {one.queue: (one.text, one.after, one.borrowed, one.lendable) for one in found.trace.shares}
    assert shares["root.b"] == (repr(1000 / 3), repr(1000 / 6), 4_000, 12_000)
    assert shares["root.a"] == ("0", "0", 0, 0)


def test_under_fair_sharing_nobody_goes_for_an_ask_whose_share_would_be_larger() -> None:
    """Both borrow 2 already."""
    at = snapshot(THREE, node(), running("a", 6), running("b", 3, 3), ask("x", queue="a", cpu=2))
    found = decided(at, "x", fair=True)
    assert found.outcome is Outcome.NO_CANDIDATE
    assert found.trace.excluded_counts["share"] == 2


def test_under_fair_sharing_the_queue_with_the_lowest_share_is_asked_for_first() -> None:
    """Whatever the priorities: these count within a queue."""
    asks = [ask("greedy", queue="b", priority=9), ask("modest", queue="c"), ask("second", queue="b", priority=3)]
    at = snapshot(THREE, node(), running("b", 6), asks)
    assert [one.decision.ask.name for one in planned(at, fair=True)] == ["modest", "greedy", "second"]
    assert [one.decision.ask.name for one in planned(at)] == ["greedy", "second", "modest"]


def test_a_victim_that_could_stay_breaks_a_law() -> None:
    """The audit counts by itself: two pods more than needed are found out, also where one of them is a whole Job's."""
    at = snapshot(TWO, node(), running("b", 2, 2, 2), ask("x", queue="a", cpu=4))
    found = decided(at, "x")
    more = decided(snapshot(TWO, node(), running("b", 2, 2, 2, controller="Job/j"), ask("x", queue="a", cpu=4)), "x")
    greedy = msgspec.structs.replace(found, victims=more.victims)
    assert [check.law for check in failed_checks(audit(at, at.tree, greedy))] == ["minimal"]


def test_half_a_workload_breaks_a_law() -> None:
    """So does taking from who borrows nothing."""
    at = snapshot(TWO, node(), running("b", 2, 2, 2, controller="Job/j"), ask("x", queue="a", cpu=4))
    found = decided(at, "x")
    half = msgspec.structs.replace(found, victims=found.victims[:2])
    assert [check.law for check in failed_checks(audit(at, at.tree, half))] == ["whole"]


def test_what_would_have_spared_a_victim_is_decided_again() -> None:
    """As little more guaranteed as leaves its queue nothing that it borrows, or less asked by itself."""
    at = snapshot(TWO, node(cpu=8), running("b", 3, 3), ask("x", queue="a", cpu=4))
    decide = policy("cohort", "kueue")
    found = decided(at, "x")
    again = Again(at, at.tree, named(at, "x"), decide)
    told = {one.change: one for one in counterfactuals_of_victim(again, found, found.victims[0].pod.uid)}
    assert told[Change.GUARANTEE].amounts == {"cpu": 6_000}
    assert [message.id for message in map(change_sentence, told.values())]
    (smaller,) = counterfactuals(again, found)
    assert (smaller.smaller, change_sentence(smaller).id) == (
        {"cpu": 2_000},
        "It would fit into the quota without preemption if it requested %(less)s less.",
    )


def test_under_fair_sharing_more_weight_would_have_spared_a_victim() -> None:
    """The least that does, in thousandths: with one less it goes."""
    at = snapshot(THREE, node(), running("b", 2, 2, 2), running("c", 3, 2), ask("x", queue="a", cpu=3))
    decide = policy("fair-share", "kueue")
    found, asker = decided(at, "x", fair=True), named(at, "x")
    victim = found.victims[0].pod
    again = Again(at, at.tree, asker, decide)
    (one,) = (one for one in counterfactuals_of_victim(again, found, victim.uid) if one.change is Change.WEIGHT)
    assert one.queue == victim.queue
    assert one.weight is not None
    assert change_sentence(one).id == "%(pod)s would be spared if %(queue)s had a weight of %(weight)s."
    for weight, stays in ((one.weight, True), (one.weight - 10**6, False)):
        victims = {gone.pod.uid for gone in again.queue_with(one.queue, weight=weight).victims}
        assert (victim.uid not in victims) is stays


def test_what_laws_count_grows_with_the_queues_and_victims_not_with_their_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every victim is put back on its own; what that does not change is not counted again."""
    many = 30
    queues = {"a": queue(str(many)), **{f"b{one}": queue("0") for one in range(many)}}
    lent = [pod(f"b{one}", queue=f"b{one}", cpu=1, node="n1") for one in range(many)]
    at = snapshot(tree(queues), node(cpu=many), lent, ask("x", queue="a", cpu=many))
    found = policy("cohort", "kueue", {})(at, at.tree, named(at, "x"))
    assert len(found.victims) == many
    counted: list[str] = []
    settled = AuditState.settled

    def counting(self: AuditState, path: str, resource: str, asking: Pod | None = None) -> int:
        counted.append(path)
        return settled(self, path, resource, asking)

    monkeypatch.setattr(AuditState, "settled", counting)
    assert not failed_checks(audit(at, at.tree, found))
    assert len(counted) < 20 * many
