"""Stored decisions come out again to the byte, whatever the cluster went through meanwhile."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from engine.audit import Invariant, InvariantCheck
from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.model.objects import DisruptionBudget, Pod, PriorityClass
from scheduler_admin.clusters.models import Cluster, Pause
from scheduler_admin.clusters.safeguards.pauses import pause, resume
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import CannotReplayError, each_replayed, replayed, same
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests.builders import ask, daemonset_ask, node, pod, queue, tree
from tests.runner.suites import sized
from tests.worker.conftest import TREE, add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

LEAVES = ("prod", "test", "t.a", "t.b")
FENCED = {"t": queue("4", fence=True), "t.a": queue("2"), "t.b": queue()}
PLAIN = {"t.a": queue("3", delay_ms=1), "t.b": queue("1", max="2")}
TREES = [
    tree({"prod": queue("6", delay_ms=1), "test": queue("2"), **FENCED}),
    tree({"prod": queue("9"), "test": queue("4", delay_ms=1), **PLAIN}),
]
NODES = ("n1", "n2", "n3")


class Walk:
    """A cluster to which things happen, one a step, and a pass after each."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cluster = add_cluster(TREES[0], evictions_per_minute=6, reserved_nodes=2)
        self.watch = Watch([node(name, 5) for name in NODES], PriorityClass(name="keep", opted_out=True))
        self.made = 0
        self.fill()

    def step(self) -> None:
        """Something happens, and a pass sees it."""
        often = [self.fill, self.ask, self.ask, self.finish, self.exit, self.exit, self.bind, self.bind, self.bind]
        seldom = [self.pause, self.budget, self.relabel, self.restart, self.republish, self.agent, self.nothing]
        self.random.choice([*often, *often, *seldom])()
        run(self.cluster, self.watch)

    def fill(self) -> None:
        """Pods of whoever comes first take what is free."""
        for name in NODES:
            held = [one.requests["cpu"] for one in self.watch.state.pods.values() if one.node == name]
            for _ in range(sum(held), 5_000, 1_000):
                leaf = self.random.choice(LEAVES[1:])
                klass = self.random.choice(["", "", "keep"])
                self._new(pod, queue=leaf, app=leaf, node=name, priority_class=klass)

    def ask(self) -> None:
        now_ms = int(timezone.now().timestamp() * 1000)
        leaf, since_ms = self.random.choice(["prod", *LEAVES]), self.random.choice([now_ms - 60_000, now_ms])
        cpu = self.random.choice([1, 1, 2, 3])
        words = f"0/{self.made} nodes are available"
        times = {"unschedulable_ms": since_ms, "created_ms": now_ms}
        self._new(ask, queue=leaf, app=leaf, cpu=cpu, unschedulable_message=words, **times)

    def _new(self, make: Callable[..., Pod], **settings: Any) -> None:
        self.made += 1
        self.watch.put(make(f"p{self.made}", **settings))

    def agent(self) -> None:
        self._new(daemonset_ask, on=self.random.choice(NODES), queue="prod")

    def finish(self) -> None:
        self._lose([one for one in self.watch.state.pods.values() if not one.terminating])

    def exit(self) -> None:
        """One that is on its way out is gone."""
        self._lose([one for one in self.watch.state.pods.values() if one.terminating])

    def _lose(self, pods: list[Pod]) -> None:
        if pods:
            del self.watch.state.pods[self.random.choice(pods).uid]

    def bind(self) -> None:
        """The scheduler keeps the room for who it was made for."""
        for row in Decision.objects.open().filter(state=Decision.State.WAITING):
            gone = not any(victim.uid in self.watch.state.pods for victim in row.victims.all())
            if gone and row.ask_uid in self.watch.state.pods:
                self.watch.bound(row.ask_name, row.node)

    def pause(self) -> None:
        paused, cluster = Pause.objects.exists(), Cluster.objects.get()
        (resume if paused else pause)(cluster=cluster, actor=None, reason="a look")

    def budget(self) -> None:
        self.watch.put(DisruptionBudget(namespace="ns", name="all", allowed=self.random.choice([0, 1, 5, 5])))
        later = EvictionResult(outcome=EvictionOutcome.HELD)
        self.watch.actuator.evicting = {f"p{n}": later for n in range(self.made) if self.random.random() < 0.2}

    def relabel(self) -> None:
        self.watch.put(node("n1", 5, labels={"turn": str(self.made)}, unschedulable=self.random.random() < 0.3))

    def restart(self) -> None:
        """Another worker takes over, which read the objects in another order."""
        pods = list(self.watch.state.pods.values())
        self.random.shuffle(pods)
        kept = self.watch.state
        self.watch = Watch(*kept.nodes.values(), pods, *kept.classes.values(), *kept.budgets.values())

    def republish(self) -> None:
        hierarchy = Cluster.objects.get().hierarchy
        assert hierarchy is not None
        publish(hierarchy=hierarchy, tree=self.random.choice(TREES), author=None, reason="walk")

    def nothing(self) -> None:
        """Time alone passes."""


@pytest.mark.parametrize("seed", range(sized("worlds", usual=1, long=8)))
def test_every_decision_of_a_cluster_that_changes_comes_out_again(seed: int) -> None:
    """Carried out, held, shown, refreshed; across restarts, keyframes and revisions."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        walk = Walk(seed)
        for _ in range(100):
            clock.shift(timedelta(seconds=walk.random.choice([1, 7, 40])))
            walk.step()
    rows = Decision.objects.all()
    pairs = list(each_replayed(rows))
    assert len(pairs) == rows.count() > 20
    assert [row.pk for row, document in pairs if document != row.document.encode()] == []
    assert JournalSegment.objects.count() > 3
    assert {row.state for row, _ in pairs} >= {"recorded", "on-hold", "closed"}
    assert any(row.entry.at > row.first_seen for row, _ in pairs), "none had new figures"


def test_a_decision_alone_comes_out_as_it_does_among_others(cluster: Cluster, watch: Watch) -> None:
    """From the middle of a segment."""
    for number in range(3):
        watch.put(ask(f"prod-{number}", queue="prod"))
        run(cluster, watch)
    for row in Decision.objects.all():
        assert replayed(row) == row.document.encode()
        assert same(row)


def test_a_refused_decision_comes_out_again(cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit is part of the pass, then as now."""
    broken = (InvariantCheck(law=Invariant.GUARANTEE, holds=False, sums=()),)
    monkeypatch.setattr("engine.planning.scheduling_pass.Auditor.judge", lambda *_args: broken)
    run(cluster, watch, times=2)
    row = Decision.objects.get(ending="rejected")
    assert same(row)


def test_a_policys_parameters_are_replayed_with_their_revision(watch: Watch) -> None:
    """Not with those of now."""
    cluster = add_cluster(mode="observe")
    hierarchy = cluster.hierarchy
    assert hierarchy is not None
    watch.put(PriorityClass(name="keep", opted_out=True))
    watch.put([pod(f"test-{n}", queue="test", node="n1", app="test", priority_class="keep") for n in range(4)])
    terms = [Terms("fence", "design", {"last_resort": whose}) for whose in ("any", "never")]
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=terms[0])
    run(cluster, watch)
    row = Decision.objects.get(outcome="preempt")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=terms[1])
    assert row.reason == "last-resort"
    assert same(row)


def test_what_is_no_longer_stored_is_said_to_be_so(cluster: Cluster, watch: Watch) -> None:
    """Not that it came out otherwise."""
    run(cluster, watch)
    JournalSegment.objects.all().delete()
    with pytest.raises(CannotReplayError, match="can no longer"):
        same(Decision.objects.get())


def test_the_command_says_that_all_come_out_the_same(
    cluster: Cluster, watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And how many can't be looked at."""
    run(cluster, watch)
    old = Decision.objects.get()
    Decision.objects.create(
        **{field: getattr(old, field) for field in ("cluster", "revision", "policy", "ask_uid", "outcome", "reason")},
        document=old.document, first_seen=old.first_seen, last_seen=old.last_seen,
    )  # fmt: skip
    call_command("replay_decisions", "--cluster", "east")
    assert capsys.readouterr().out == (
        "1 decisions are identical to their replay. 1 decisions could not be replayed.\n"
    )


def test_the_command_names_each_decision_that_comes_out_otherwise(
    cluster: Cluster, watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And ends with an error."""
    run(cluster, watch)
    row = Decision.objects.get()
    Decision.objects.update(document=row.document.replace('"n1"', '"n2"'))
    with pytest.raises(CommandError, match="1 of 1 decisions"):
        call_command("replay_decisions")
    assert capsys.readouterr().out == f"Decision {row.pk} of cluster east differs from its replay.\n"


def test_the_command_looks_at_what_is_asked_for(
    cluster: Cluster, watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newest, since a day, of a cluster; nothing else."""
    for number in range(3):
        watch.put(ask(f"prod-{number}", queue="prod"))
        run(cluster, watch)
    call_command("replay_decisions", "--limit", "2")
    call_command("replay_decisions", "--since", "2200-01-01")
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in told] == ["2", "0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "nowhere"], "Cluster nowhere does not exist"),
        (["--since", "yesterday"], "yesterday is not a time"),
        (["--limit", "0"], "0 is not a number"),
    ],
)
def test_the_command_says_what_it_was_given_wrong(arguments: list[str], said: str) -> None:
    """In a sentence."""
    with pytest.raises(CommandError, match=said):
        call_command("replay_decisions", *arguments)


def test_a_torn_journal_is_an_error_of_the_command(cluster: Cluster, watch: Watch) -> None:
    """Not a decision that differs."""
    run(cluster, watch)
    entry = JournalEntry.objects.get()
    JournalEntry.objects.update(blob=bytes(entry.blob)[:-5])
    with pytest.raises(CommandError, match="torn"):
        call_command("replay_decisions")
