"""What kube-scheduler preempted is decided again on the cluster of just before, and where the two differ is told."""

from typing import Any

import msgspec
import pytest

from engine.explain import replay_lines
from engine.explain.observed.replay import CAUSES, NOT_REPLAYED
from engine.model.decision import Decision, NodeReason, Outcome, PodReason
from engine.model.objects import (
    DisruptionBudget,
    GroupEvidence,
    GroupScheduling,
    Node,
    Pod,
    Preempted,
    Requirement,
)
from engine.model.snapshot import ClusterState, ObjectChange
from engine.observation import replay
from engine.observation.evictions import (
    Agreement,
    Cause,
    Compared,
    NotReplayedReason,
    Observed,
    compare_with_replay,
    decode,
    encode,
    merge_observed,
    observe,
    rules_of,
)
from engine.observation.replay import replay_observed
from engine.policies import priority
from tests.builders import NOW, ask, node, pod, pod_group, queue, tree

TREE = tree({"a": queue(), "b": queue()})
AT = NOW - 1_000


class Cluster:
    """A cluster whose changes are noted as a watcher notes them."""

    def __init__(self, *objects: Any) -> None:
        self.state = ClusterState()
        for one in (each for given in objects for each in (given if isinstance(given, list) else [given])):
            match one:
                case Node():
                    self.state.nodes[one.name] = one
                case Pod():
                    self.state.pods[one.uid] = one
                case DisruptionBudget():
                    self._change(lambda state: state.budgets, (one.namespace, one.name), one)

    def _change(self, column: Any, key: Any, after: Any) -> None:
        kept = column(self.state)
        self.state.changes.append(ObjectChange(column, key, kept.get(key), after))
        if after is None:
            self.state.remember_deleted(kept.pop(key))
        else:
            kept[key] = after

    def pod(self, name: str, **changes: Any) -> None:
        """A pod changes, or comes: then it is running on the node that is given."""
        known = self.state.pods.get(f"uid-{name}")
        new = msgspec.structs.replace(known, **changes) if known else pod(name, **changes)
        self._change(lambda state: state.pods, new.uid, new)

    def budget(self, name: str, allowed: int) -> None:
        """The disruption controller has counted."""
        (key,) = (key for key in self.state.budgets if key[1] == name)
        self._change(
            lambda state: state.budgets, key, msgspec.structs.replace(self.state.budgets[key], allowed=allowed)
        )

    def gone(self, *names: str) -> None:
        for name in names:
            self._change(lambda state: state.pods, f"uid-{name}", None)

    def preempts(self, asker: str, *victims: str, on: str = "n1", says: str = "") -> None:
        """What kube-scheduler writes, in its order."""
        self.pod(asker, nominated_node=on, unschedulable_message=says)
        for name in victims:
            self.tells(name, asker, on=on)

    def tells(self, victim: str, asker: str, on: str = "n1") -> None:
        self.pod(victim, disruption="PreemptionByScheduler", disrupted_ms=AT)
        self.pod(victim, terminating=True)
        about = {"ask_uid": f"uid-{asker}", "ask_namespace": "ns", "ask_name": asker}
        event = Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=AT, node=on, **about)
        self.state.preempted[f"event-{victim}"] = event

    def seen(self) -> list[Observed]:
        """All preemptions, with hindsight."""
        return list(replay_observed(observe(self.state, TREE, now_ms=NOW), self.state, lambda _ms: TREE).decisions)

    def one(self) -> Observed:
        """The one preemption."""
        (found,) = self.seen()
        return found


def ours(seen: Observed) -> Decision:
    assert seen.hindsight is not None
    return seen.hindsight.decision


def beside(seen: Observed) -> Compared:
    found = compare_with_replay(seen)
    assert found is not None
    return found


def victims(decision: Decision) -> list[str]:
    return [one.pod.name for one in decision.victims]


def two_nodes(*others: Any) -> Cluster:
    """web of priority 100 needs a whole node; on n1 run pods of priority 0, on n2 of 10."""
    web = ask("web", queue="a", cpu=4, priority=100)
    pods = [pod("low-0", node="n1", cpu=2), pod("low-1", node="n1", cpu=2), pod("mid", node="n2", cpu=4, priority=10)]
    return Cluster(node("n1"), node("n2"), *pods, web, *others)


def test_the_same_answer_is_told_with_its_trace():
    """Node and victims agree; which nodes were passed over, and why, is known now."""
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1", says="0/2 nodes are available: 2 Insufficient cpu.")
    seen = cluster.one()
    assert (ours(seen).node, victims(ours(seen)), beside(seen).agreement) == ("n1", ["low-0", "low-1"], Agreement.SAME)
    assert [(one.node, one.reason, one.detail) for one in ours(seen).trace.nodes] == [
        ("n2", NodeReason.DEARER, "priority")
    ]
    assert seen.hindsight is not None
    assert (seen.hindsight.said, seen.hindsight.nodes) == ("0/2 nodes are available: 2 Insufficient cpu.", 2)


def test_reprieved_pods_are_named():
    """One of two makes enough room."""
    cluster = Cluster(
        node("n1"), pod("x", node="n1", cpu=2, priority=5), pod("y", node="n1", cpu=2), ask("web", cpu=2, priority=100)
    )
    cluster.preempts("web", "y")
    assert [(one.pod.name, one.reason) for one in ours(cluster.one()).trace.reprieved] == [("x", PodReason.NOT_NEEDED)]


def test_what_happened_since_does_not_count():
    """Victims left, the ask was bound, what they made room for came, a budget was counted again."""
    budget = DisruptionBudget(namespace="ns", name="low", expressions=(Requirement("app", "In", ("low",)),), allowed=2)
    cluster = two_nodes(budget)
    cluster.preempts("web", "low-0", "low-1")
    cluster.budget("low", 0)
    cluster.gone("low-0", "low-1", "mid")
    cluster.pod("web", node="n1", nominated_node="")
    cluster.pod("later", node="n2", priority=1)
    seen = cluster.one()
    assert (ours(seen).node, victims(ours(seen)), beside(seen).agreement) == ("n1", ["low-0", "low-1"], Agreement.SAME)


def test_victims_may_be_told_before_the_ask_is_nominated():
    """kube-scheduler does the two at the same time."""
    cluster = two_nodes()
    cluster.tells("low-0", "web")
    cluster.pod("web", nominated_node="n1")
    cluster.tells("low-1", "web")
    assert beside(cluster.one()).agreement is Agreement.SAME


def test_who_was_on_the_way_out_already_is_no_difference():
    """kube-scheduler counts on it, and tells it nothing: no Event names it."""
    cluster = two_nodes()
    cluster.pod("low-0", terminating=True)
    cluster.preempts("web", "low-1")
    seen = cluster.one()
    assert (victims(ours(seen)), beside(seen).agreement) == (["low-0", "low-1"], Agreement.SAME)


def test_an_earlier_nomination_to_the_same_node_is_not_its_beginning():
    """It preempted there before, another pod took the room, and now it preempts that one."""
    cluster = Cluster(node("n1"), pod("first", node="n1", cpu=4), ask("web", queue="a", cpu=4, priority=100))
    cluster.preempts("web", "first")
    cluster.gone("first")
    cluster.pod("thief", node="n1", cpu=4, priority=50)
    cluster.state.preempted.clear()
    cluster.state.departed.clear()
    cluster.tells("thief", "web")
    seen = cluster.one()
    assert (victims(ours(seen)), beside(seen).agreement) == (["thief"], Agreement.SAME)


def test_each_preemption_is_decided_on_its_own_moment():
    """The second is decided with the room of the first nominated away, and its victims on their way out."""
    pods = [pod(f"p{number}", node=f"n{number}", cpu=4, started_ms=number) for number in (1, 2)]
    asks = [ask(name, cpu=4, priority=100) for name in ("web", "api")]
    cluster = Cluster(node("n1"), node("n2"), *pods, *asks)
    cluster.preempts("web", "p2", on="n2")
    cluster.preempts("api", "p1", on="n1")
    found = {seen.ask.name: seen for seen in cluster.seen() if seen.ask}
    assert {name: ours(seen).node for name, seen in found.items()} == {"web": "n2", "api": "n1"}
    assert {beside(seen).agreement for seen in found.values()} == {Agreement.SAME}


def test_live_nominations_of_the_same_or_a_higher_priority_count():
    """high was nominated to n1, where a pod has gone by itself: web must not take that room."""
    high = ask("high", cpu=4, priority=200, nominated_node="n1")
    cluster = Cluster(node("n1"), node("n2"), pod("low", node="n2", cpu=4), high, ask("web", cpu=4, priority=100))
    cluster.preempts("web", "low", on="n2")
    seen = cluster.one()
    assert (ours(seen).node, victims(ours(seen)), beside(seen).agreement) == ("n2", ["low"], Agreement.SAME)


# Where they differ


def test_another_node_is_told_with_what_it_loses_by():
    """The real one took the higher priority: nobody can tell why, in a cluster this small."""
    cluster = two_nodes()
    cluster.preempts("web", "mid", on="n2")
    found = beside(cluster.one())
    assert (found.agreement, found.cause) == (Agreement.OTHER_NODE, Cause.MOMENT)
    assert [pod.name for pod in found.only_ours] == ["low-0", "low-1"]
    assert [pod.name for pod in found.only_theirs] == ["mid"]
    assert [(one.node, one.detail) for one in ours(cluster.one()).trace.nodes] == [("n2", "priority")]


def test_nodes_that_cost_the_same_are_a_tie():
    """kube-scheduler takes the first of a map."""
    pods = [pod(f"p{number}", node=f"n{number}", cpu=4) for number in (1, 2)]
    cluster = Cluster(node("n1"), node("n2"), *pods, ask("web", cpu=4, priority=100))
    cluster.preempts("web", "p2", on="n2")
    assert (ours(cluster.one()).node, beside(cluster.one()).cause) == ("n1", Cause.TIE)


def test_victims_that_are_worth_the_same_are_a_tie():
    """Of equal priority and start any may go."""
    cluster = Cluster(
        node("n1"), *(pod(name, node="n1", cpu=2) for name in ("x", "y")), ask("web", cpu=2, priority=100)
    )
    taken, left = ("x", "y") if _last(cluster) == "y" else ("y", "x")
    cluster.preempts("web", taken)
    found = beside(cluster.one())
    assert (found.agreement, found.cause) == (Agreement.OTHER_VICTIMS, Cause.TIE)
    assert ([one.name for one in found.only_theirs], [one.name for one in found.only_ours]) == ([taken], [left])


def _last(cluster: Cluster) -> str:
    """Whom ours takes of two that are worth the same."""
    snapshot = cluster.state.snapshot(TREE, now_ms=NOW)
    return victims(priority.decide(snapshot, TREE, snapshot.asks[0]))[0]


def test_more_victims_than_ours_are_told():
    """It took one that could have stayed."""
    cluster = two_nodes()
    cluster.state.pods["uid-web"] = ask("web", queue="a", cpu=2, priority=100)
    cluster.preempts("web", "low-0", "low-1")
    found = beside(cluster.one())
    assert (found.agreement, found.cause, len(found.only_theirs)) == (Agreement.OTHER_VICTIMS, Cause.MOMENT, 1)


def test_of_many_nodes_it_need_not_have_seen_ours():
    """From a hundred on it looks at a part."""
    nodes = [node(f"n{number:03}") for number in range(101)]
    pods = [pod(f"p{number}", node=f"n{number:03}", cpu=4, priority=number) for number in range(101)]
    cluster = Cluster(*nodes, *pods, ask("web", cpu=4, priority=1000))
    cluster.preempts("web", "p7", on="n007")
    assert beside(cluster.one()).cause is Cause.SAMPLE


def test_that_ours_would_not_have_preempted_is_told():
    """A node was free by then."""
    cluster = two_nodes()
    cluster.gone("mid")
    cluster.preempts("web", "low-0", "low-1")
    seen = cluster.one()
    assert (ours(seen).outcome, beside(seen).agreement) == (Outcome.FITS, Agreement.NO_PREEMPTION)
    assert replay_lines(seen)[1].id.startswith("It requests")


# Where it is not decided again


def test_an_ask_that_nobody_saw_is_not_made_up():
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    del cluster.state.pods["uid-web"]
    assert (cluster.one().hindsight, cluster.one().untold) == (None, NotReplayedReason.NO_ASK)


def test_a_group_of_groups_is_not_decided_for():
    cluster = two_nodes()
    cluster.preempts("web", "low-0")
    event = cluster.state.preempted["event-low-0"]
    cluster.state.preempted["event-low-0"] = msgspec.structs.replace(event, ask_kind="CompositePodGroup")
    assert (cluster.one().hindsight, cluster.one().untold) == (None, NotReplayedReason.GROUP)


def waiting_gang(*more: object) -> Cluster:
    """Two full nodes, and a gang of two pods that waits; kube-scheduler schedules groups as a whole."""
    cluster = Cluster(
        node("n1", 4),
        node("n2", 4),
        [pod(f"low-{number}", queue="b", node=f"n{number + 1}", cpu=4, priority=1) for number in range(2)],
        [ask(f"gang-{number}", queue="a", cpu=3, priority=10, scheduling_group="gang") for number in range(2)],
        *more,
    )
    cluster.state.scheduling_groups["ns", "gang"] = pod_group("gang", at_once=2, priority=10)
    cluster.state.group_scheduling = GroupScheduling(on=True, evidence=GroupEvidence.METRICS)
    return cluster


def preempts_for_gang(cluster: Cluster, *victims: str) -> None:
    """What kube-scheduler writes, side by side for its pods and the victims."""
    cluster.pod("gang-0", nominated_node="n1")
    for name in victims:
        cluster.tells(name, "gang", on="cluster")
        event = cluster.state.preempted[f"event-{name}"]
        cluster.state.preempted[f"event-{name}"] = msgspec.structs.replace(event, ask_kind="PodGroup")
    cluster.pod("gang-1", nominated_node="n2")


def test_what_is_preempted_for_a_group_is_decided_again_for_the_whole_group():
    """By the rules of kube-scheduler 1.37, with a node for each of its pods."""
    cluster = waiting_gang()
    preempts_for_gang(cluster, "low-0", "low-1")
    seen = cluster.one()
    assert beside(seen) == Compared(agreement=Agreement.SAME)
    assert rules_of(seen).version == "1.37"
    assert ours(seen).nodes == {"uid-gang-0": "n1", "uid-gang-1": "n2"}
    (line,) = replay_lines(seen)
    assert str(line) == (
        "A replay with the policy “priority” on the cluster just before the preemption gives the same result for the "
        "group: the same victims."
    )


def test_pods_of_a_group_that_got_their_node_since_are_part_of_what_it_requested():
    """They start one after the other; it was for all of them that room was made."""
    cluster = waiting_gang()
    preempts_for_gang(cluster, "low-0", "low-1")
    seen = cluster.one()
    cluster.pod("gang-0", node="n1")
    bound = cluster.one()
    cluster.pod("gang-0", started_ms=seen.at_ms + 2_000)
    assert [one.ask.requests["cpu"] for one in (seen, bound, cluster.one())] == [6_000] * 3


def test_pods_of_a_group_that_ran_before_are_no_part_of_what_it_requested():
    """A group that grew needed room for its new pods alone."""
    cluster = waiting_gang(pod("gang-2", queue="a", node="n2", cpu=1, scheduling_group="gang", started_ms=1))
    preempts_for_gang(cluster, "low-0", "low-1")
    assert cluster.one().ask.requests["cpu"] == 6_000


def test_other_victims_for_a_group_are_told():
    """Here one that would not have had to go."""
    cluster = waiting_gang(node("n0", 1), pod("spare", queue="b", node="n0", cpu=1, priority=1))
    preempts_for_gang(cluster, "low-0", "low-1", "spare")
    found = beside(cluster.one())
    assert (found.agreement, [one.name for one in found.only_theirs]) == (Agreement.OTHER_VICTIMS, ["spare"])


def test_a_pod_beside_groups_is_decided_again_with_them():
    """A group whose pods go together counts by its own priority."""
    cluster = waiting_gang(ask("web", queue="a", cpu=4, priority=20))
    cluster.state.scheduling_groups["ns", "ring"] = pod_group("ring", priority=0, whole=True)
    for name in ("low-0", "low-1"):
        cluster.pod(name, scheduling_group="ring")
    cluster.preempts("web", "low-0", "low-1")
    assert beside(cluster.one()) == Compared(agreement=Agreement.SAME)


@pytest.mark.parametrize("kept", [0, 3])
def test_a_beginning_that_was_not_followed_is_not_guessed(kept: int):
    """A restarted worker, or too many changes since: of the first victim's going nothing is known."""
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    last = list(cluster.state.changes)[len(cluster.state.changes) - kept :]
    cluster.state.changes.clear()
    cluster.state.changes.extend(last)
    assert (cluster.one().hindsight, cluster.one().untold) == (None, NotReplayedReason.NOT_SEEN)


def test_an_event_that_is_here_before_its_victim_is_decided_on_the_present():
    """The kinds are followed apart."""
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    for _ in range(2):  # of low-1 nothing has come yet
        change = cluster.state.changes.pop()
        cluster.state.pods[change.key] = change.before
    assert beside(cluster.one()).agreement is Agreement.SAME


def test_of_too_many_at_once_the_oldest_are_decided_again(monkeypatch: pytest.MonkeyPatch):
    """Each goes back to a moment of its own; the others say that it was too much."""
    count = 6
    pods = [pod(f"p{number}", node=f"n{number}", cpu=4, started_ms=number) for number in range(count)]
    asks = [ask(f"web-{number}", cpu=4, priority=100) for number in range(count)]
    cluster = Cluster(*(node(f"n{number}") for number in range(count)), *pods, *asks)
    for number in range(count):
        cluster.preempts(f"web-{number}", f"p{number}", on=f"n{number}")
    monkeypatch.setattr(replay, "PODS_AT_ONCE", 2 * len(cluster.state.pods))
    found = cluster.seen()
    assert [seen.untold for seen in found] == [None, None, *[NotReplayedReason.TOO_MANY] * (count - 2)]
    monkeypatch.setattr(replay, "PODS_AT_ONCE", 1)
    assert [seen.untold for seen in cluster.seen()].count(None) == 1


def test_others_than_kube_scheduler_have_none():
    """They evict for reasons of their own."""
    cluster = two_nodes()
    cluster.pod("low-0", disruption="EvictionByEvictionAPI", disrupted_ms=AT, terminating=True)
    assert (cluster.one().hindsight, cluster.one().untold, replay_lines(cluster.one())) == (None, None, ())


def test_nothing_is_changed_in_the_state_it_is_told_from():
    """Passes go on with it."""
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    before = (dict(cluster.state.pods), list(cluster.state.changes))
    cluster.one()
    assert (cluster.state.pods, list(cluster.state.changes)) == before


# Kept and joined


def test_it_is_read_back_as_it_was_written():
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    assert decode(encode(cluster.one())) == cluster.one()
    assert encode(cluster.one()) == encode(cluster.one())


def test_what_joins_a_decision_later_leaves_its_hindsight():
    """Unless it turns out to have been for another ask."""
    cluster = two_nodes()
    cluster.preempts("web", "low-0", "low-1")
    seen = cluster.one()
    first, second = (msgspec.structs.replace(seen, victims=(one,)) for one in seen.victims)
    later = msgspec.structs.replace(second, hindsight=None, untold=NotReplayedReason.NOT_SEEN)
    assert merge_observed(first, later) == seen
    unknown = msgspec.structs.replace(first, ask=None, hindsight=None, untold=NotReplayedReason.NO_ASK)
    assert merge_observed(unknown, second).hindsight == seen.hindsight
    other = msgspec.structs.replace(first, ask=msgspec.structs.replace(seen.ask, uid="another"), ask_inferred=True)  # type: ignore[type-var]
    assert merge_observed(other, second).hindsight == second.hindsight


def test_everything_that_can_be_said_has_its_sentence():
    assert set(CAUSES) == set(Cause)
    assert set(NOT_REPLAYED) == set(NotReplayedReason)
