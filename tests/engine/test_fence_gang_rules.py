"""Not one rule for gangs is idle: without it policy fence decides wrongly, and the audit refuses that."""

from collections.abc import Callable
from copy import copy
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.audit import Invariant, audit, failed_checks
from engine.model.decision import Outcome, PodReason
from engine.model.objects import Node, Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import policy
from engine.policies.common.eligibility import WAITS
from engine.policies.common.groups.members_in_place import MembersInPlace
from engine.policies.fence import candidates
from engine.policies.fence.groups import units
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.attempt import GangAttempt
from engine.policies.fence.groups.decision import GangStages
from engine.policies.fence.groups.units import CandidateUnits
from engine.policies.fence.victims import preemptable_amounts
from tests.builders import NOW, ask, named, node, pod, pod_group, queue, snapshot, tree

Object = Node | Pod | SchedulingGroup
Change = Callable[[pytest.MonkeyPatch], None]


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Two full nodes of two cores with two pods of ``test`` each, and a gang of two that needs a node each."""

    law: Invariant
    without: Change
    """Takes the rule away."""
    prod: Any = "4"
    """What the gang's queue is promised."""
    prod_max: Any = None
    test: Any = None
    above: dict[str, Any] = {}
    """Settings of the queue above both."""
    member: dict[str, Any] = {}
    last: dict[str, Any] = {}
    """Settings of the second member alone."""
    victims: dict[str, Any] = {}
    one: dict[str, Any] = {}
    """Settings of the last of the running pods alone."""
    others: tuple[Object, ...] = ()
    whole: bool = False
    """Whether the two pods of each node are a group that goes whole."""
    at_once: int = 2
    alone: bool = False
    """Whether only ``others`` run, on nodes of their own."""

    def world(self) -> tuple[Snapshot, QueueTree]:
        """The cluster."""
        shape = tree(
            {
                "t": queue(**self.above),
                "t.prod": queue(self.prod, max=self.prod_max),
                "t.test": queue(self.test),
                "other": queue(),
            }
        )
        running = [
            pod(
                f"old-{on}-{each}",
                node=on,
                **{
                    "queue": "t.test",
                    "scheduling_group": f"ring-{on}" if self.whole else "",
                    **self.victims,
                    **(self.one if (on, each) == ("n2", "b") else {}),
                },
            )
            for on in ("n1", "n2")
            for each in "ab"
        ]
        gang = [
            ask(
                f"gang-{number}",
                created_ms=number,
                **{
                    "queue": "t.prod",
                    "cpu": 2,
                    "app": "gang",
                    "scheduling_group": "gang",
                    **self.member,
                    **(self.last if number else {}),
                },
            )
            for number in range(2)
        ]
        rings = [pod_group(f"ring-{on}", whole=True) for on in ("n1", "n2")]
        groups = pod_group("gang", at_once=self.at_once), *rings
        plain: list[Object] = [] if self.alone else [node("n1", 2), node("n2", 2), *running]
        return snapshot(shape, plain, gang, groups, self.others), shape


def replaced(owner: Any, name: str, value: Any) -> Change:
    """Replace a method or function by one that lets everything pass."""
    return lambda patch: patch.setattr(owner, name, value)


def without_pod_guard(name: str) -> Change:
    """Take one of the rules about victims away."""

    def change(patch: pytest.MonkeyPatch) -> None:
        guards: dict[Any, Any] = {str(reason): reason for reason in candidates.GUARDS}
        nobody = candidates.Guard(lambda pod_kinds: np.zeros(len(pod_kinds.pod_index.kinds.each), np.bool_))
        patch.setitem(candidates.GUARDS, guards[name], nobody)

    return change


def without_guarantees(patch: pytest.MonkeyPatch) -> None:
    """Forget what queues are promised that lose pods."""
    patch.setitem(preemptable_amounts.GUARDS, "guarantee", lambda *_: {})
    patch.setattr(Allowances, "allows", lambda *_: True)


def without_delays(patch: pytest.MonkeyPatch) -> None:
    """Wait for no member."""
    for reason in WAITS:
        patch.setitem(WAITS, reason, lambda _: None)


def keeping_none(patch: pytest.MonkeyPatch) -> None:
    """Let nobody stay that was chosen once."""
    patch.setattr(MembersInPlace, "take_back", lambda *_: False)
    patch.setattr(MembersInPlace, "fit_beside", lambda *_, nearby=None: nearby is None)


def without_one(patch: pytest.MonkeyPatch) -> None:
    """Decide a gang in part."""
    prepare = GangAttempt.__init__

    def init(self: GangAttempt, *given: Any) -> None:
        prepare(self, *given)
        self.wanted -= 1

    patch.setattr(GangAttempt, "__init__", init)


def splitting(patch: pytest.MonkeyPatch) -> None:
    """Evict pods of whole groups one by one."""
    prepare = CandidateUnits.__init__

    def init(self: CandidateUnits, *given: Any) -> None:
        prepare(self, *given)
        self.units = copy(self.units)
        self.units.lead, self.units.whole = np.arange(len(self.may_go)), np.zeros(len(self.may_go), np.bool_)
        self.units.__dict__.pop("size", None)

    patch.setattr(CandidateUnits, "__init__", init)
    patch.setitem(candidates.ROW_GUARDS, PodReason.WHOLE_GROUP, lambda _: np.zeros(0, np.intp))


NO_REFUSAL = replaced(GangAttempt, "refusal", lambda *_, **__: None)
ELIGIBLE = replaced(GangStages, "not_eligible", lambda _: None)
SCENES = {
    "each member claims what is left": Scene(law=Invariant.ENTITLED, without=NO_REFUSAL, prod="2"),
    "a guarantee is claimed": Scene(law=Invariant.ENTITLED, without=NO_REFUSAL, prod=None),
    "max of the leaf": Scene(law=Invariant.MAX, without=NO_REFUSAL, prod_max="3"),
    "max above": Scene(
        law=Invariant.MAX,
        without=replaced(Allowances, "under_max", lambda _: True),
        above={"max": "2"},
        victims={"queue": "other"},
    ),
    "the youngest waited": Scene(
        law=Invariant.MAY_PREEMPT,
        without=without_delays,
        last={"unschedulable_ms": NOW},
    ),
    "one queue": Scene(law=Invariant.MAY_PREEMPT, without=ELIGIBLE, last={"queue": "other"}, at_once=1),
    "one application": Scene(law=Invariant.MAY_PREEMPT, without=ELIGIBLE, last={"app": "another"}),
    "never": Scene(law=Invariant.MAY_PREEMPT, without=ELIGIBLE, last={"never_preempts": True}),
    "whole or not at all": Scene(law=Invariant.FITS, without=without_one, others=(), last={"cpu": 3}),
    "guarantees of others": Scene(law=Invariant.GUARANTEE, without=without_guarantees, test="1"),
    "priority": Scene(law=Invariant.PRIORITY, without=without_pod_guard("higher-priority"), one={"priority": 1}),
    "application": Scene(law=Invariant.APPLICATION, without=without_pod_guard("same-application"), one={"app": "gang"}),
    "fence": Scene(
        law=Invariant.FENCE,
        without=without_pod_guard("outside-fence"),
        above={"fence": True},
        one={"queue": "other"},
    ),
    "minimal": Scene(
        law=Invariant.MINIMAL,
        without=keeping_none,
        last={"node_selector": {"zone": "b"}},
        alone=True,
        others=(
            node("n1", 4),
            node("n2", 2, labels={"zone": "b"}),
            pod("single", node="n1", queue="t.test", cpu=2),
            pod("ring-1", node="n1", queue="t.test", cpu=2, scheduling_group="ring-n1"),
            pod("ring-2", node="n2", queue="t.test", cpu=2, scheduling_group="ring-n1"),
        ),
    ),
    "whole groups": Scene(law=Invariant.WHOLE, without=splitting, whole=True, member={"cpu": 1}, at_once=1),
    "one that may not go keeps its group": Scene(
        law=Invariant.PRIORITY,
        without=replaced(units, "staying_whole", lambda *_: np.zeros(0, np.intp)),
        whole=True,
        others=(pod_group("ring-n2", whole=True, priority=7),),
    ),
}


@pytest.mark.parametrize("scene", SCENES.values(), ids=[*SCENES])
def test_without_a_rule_the_audit_refuses_what_comes_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """With it, either nothing is evicted, or what is keeps all invariants."""
    at, shape = scene.world()
    decide = policy("fence", "design")
    kept = decide(at, shape, named(at, "gang-0"))
    assert not failed_checks(audit(at, shape, kept))
    scene.without(monkeypatch)
    wrong = decide(*scene.world(), named(at, "gang-0"))
    assert wrong.outcome is Outcome.PREEMPT, wrong
    assert wrong.victims != kept.victims
    assert scene.law in {check.law for check in failed_checks(audit(at, shape, wrong))}
