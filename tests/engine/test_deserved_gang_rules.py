"""Not one rule for gangs is idle: without it policy deserved decides wrongly, and the audit refuses that."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.audit import Invariant, audit, failed_checks
from engine.model.columns.node_columns import Flags
from engine.model.decision import Outcome, PodReason
from engine.model.objects import Node, Pod, SchedulingGroup
from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import units_of
from engine.policies import audit_terms, policy
from engine.policies.common.eligibility import WAITS
from engine.policies.common.groups.max_amounts import MaxAmounts
from engine.policies.common.groups.members_in_place import MembersInPlace
from engine.policies.common.groups.pending_gang import PendingGang
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.budget_coverage import BudgetCoverage
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.groups import units
from engine.policies.deserved.groups.allowances import ReclaimAllowances
from engine.policies.deserved.groups.decision import ReclaimStages
from engine.policies.deserved.shares.balances import ShareBalances
from tests.builders import OPTED_OUT, ask, budget, named, node, pod, pod_group, queue, snapshot, tree

Object = Node | Pod | SchedulingGroup
Change = Callable[[pytest.MonkeyPatch], None]
URGENT = {"high_priority": ["urgent"]}
MUCH = {"weight": 2 * WEIGHT_ONE}
LOW = {"priority": -1}
"""The one that goes first in its queue."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Two full nodes of two cores with two pods of ``test`` each, and a gang of two that needs a core each.

    ``prod`` and ``test`` deserve two cores each.
    """

    law: Invariant
    without: Change
    """Takes the rule away."""
    prod: dict[str, Any] = {}
    """Settings of the gang's queue."""
    test: dict[str, Any] = {}
    above: dict[str, Any] = {}
    """Settings of the queue above both."""
    other: dict[str, Any] = {}
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
    told: bool = True
    allowed: int | None = None
    """How many pods a disruption budget lets go."""
    alone: bool = False
    """Whether only ``others`` run, on nodes of their own."""
    parameters: dict[str, Any] = {}

    def world(self) -> tuple[Snapshot, QueueTree]:
        """The cluster."""
        shape = tree(
            {
                "t": queue(**self.above),
                "t.prod": queue(**self.prod),
                "t.test": queue(**self.test),
                "other": queue(**self.other),
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
        at = snapshot(shape, plain, gang, groups, self.others, OPTED_OUT)
        budgets = () if self.allowed is None else (budget(self.allowed),)
        notices = dict.fromkeys(shape.leaves, 0) if self.told else {}
        return msgspec.structs.replace(at, budgets=budgets, notices=notices), shape


def replaced(owner: Any, name: str, value: Any) -> Change:
    """Replace a method or function by one that lets everything pass."""
    return lambda patch: patch.setattr(owner, name, value)


def together(*changes: Change) -> Change:
    """Make several changes."""

    def change(patch: pytest.MonkeyPatch) -> None:
        for one in changes:
            one(patch)

    return change


def without_reason(reason: PodReason) -> Change:
    """Take one of the rules about victims away."""

    def change(patch: pytest.MonkeyPatch) -> None:
        for name in ("_excluded_queues", "_excluded_kinds"):
            found = getattr(Candidates, name)

            def others(
                self: Candidates, *given: Flags, found: Callable[..., Iterator[tuple[PodReason, Flags]]] = found
            ) -> Iterator[tuple[PodReason, Flags]]:
                return ((why, flags) for why, flags in found(self, *given) if why is not reason)

            patch.setattr(Candidates, name, others)

    return change


def without_one(patch: pytest.MonkeyPatch) -> None:
    """Decide a gang in part."""
    prepare = PendingGang.__init__

    def init(self: PendingGang, *given: Any) -> None:
        prepare(self, *given)
        self.wanted -= 1

    patch.setattr(PendingGang, "__init__", init)


def keeping_none(patch: pytest.MonkeyPatch) -> None:
    """Let nobody stay that was chosen once."""
    patch.setattr(MembersInPlace, "take_back", lambda *_: False)
    patch.setattr(MembersInPlace, "fit_beside", lambda *_, nearby=None: nearby is None)


def splitting(patch: pytest.MonkeyPatch) -> None:
    """Evict pods of whole groups one by one."""

    def alone(at: Snapshot) -> Any:
        made = units_of(at)
        made.lead, made.whole = np.arange(len(made.lead)), np.zeros(len(made.lead), np.bool_)
        made.__dict__.pop("size", None)
        return made

    patch.setattr(units, "units_of", alone)


def without_waits(patch: pytest.MonkeyPatch) -> None:
    """Do not ask whether the scheduler has tried a member."""
    for reason in WAITS:
        patch.setitem(WAITS, reason, lambda _: None)


NO_LIMIT = replaced(ReclaimAttempt, "beyond_deserved", lambda *_: "")
ELIGIBLE = replaced(ReclaimStages, "not_eligible", lambda _: None)
OVERUSED = together(
    without_reason(PodReason.WITHIN_DESERVED),
    replaced(ShareBalances, "overused", lambda *_: True),
    replaced(ShareBalances, "was_overused", lambda *_: True),
)
SCENES = {
    "each member within what is deserved": Scene(law=Invariant.DESERVED, without=NO_LIMIT, member={"cpu": 2}),
    "the last member too": Scene(law=Invariant.DESERVED, without=NO_LIMIT, last={"cpu": 2}),
    "hard limit of the leaf": Scene(
        law=Invariant.MAX,
        without=replaced(ReclaimAttempt, "beyond_hard", lambda *_: ""),
        prod={"max": "1"},
        member={"priority": 1, "priority_class": "urgent"},
        victims=LOW,
        parameters=URGENT,
    ),
    "hard limit above": Scene(
        law=Invariant.MAX,
        without=replaced(MaxAmounts, "exceeded", lambda _: []),
        above={"max": "4"},
        prod={"weight": 2 * WEIGHT_ONE},
        other={"weight": 0},
        victims={"queue": "other"},
        others=(node("n3", 3), pod("kept", node="n3", queue="t.test", cpu=3, priority_class="keep")),
    ),
    "the scheduler tried all": Scene(law=Invariant.MAY_PREEMPT, without=without_waits, last={"unschedulable_ms": None}),
    "one queue": Scene(law=Invariant.MAY_PREEMPT, without=ELIGIBLE, last={"queue": "other"}, at_once=1),
    "never": Scene(law=Invariant.MAY_PREEMPT, without=ELIGIBLE, last={"never_preempts": True}),
    "whole or not at all": Scene(law=Invariant.FITS, without=without_one, last={"cpu": 3}),
    "reserved amounts": Scene(
        law=Invariant.GUARANTEE,
        without=together(
            without_reason(PodReason.GUARANTEE), replaced(ReclaimAllowances, "_keeps_reserved", lambda *_: True)
        ),
        test={"guaranteed": "1"},
        alone=True,
        member={"node_selector": {"zone": "a"}},
        last={"node_selector": {"zone": "b"}},
        others=tuple(
            one
            for zone in "ab"
            for one in (node(zone, 2, labels={"zone": zone}), pod(f"big-{zone}", queue="t.test", cpu=2, node=zone))
        ),
    ),
    "overused": Scene(
        law=Invariant.OVERUSED,
        without=OVERUSED,
        prod=MUCH,
        victims={"queue": "other"},
        one={"queue": "t.test"},
        others=(node("n3", 4), pod("kept", node="n3", queue="t.test", cpu=4, priority_class="keep")),
    ),
    "notices": Scene(
        law=Invariant.NOTIFIED, without=replaced(ReclaimAttempt, "in_grace", lambda *_: False), told=False
    ),
    "disruption budgets": Scene(
        law=Invariant.BUDGETS, without=replaced(BudgetCoverage, "allow", lambda *_: True), allowed=1
    ),
    "system": Scene(
        law=Invariant.SYSTEM,
        without=without_reason(PodReason.SYSTEM),
        prod=MUCH,
        one={"namespace": "kube-system", **LOW},
    ),
    "opted out": Scene(
        law=Invariant.OPT_OUT, without=without_reason(PodReason.OPTED_OUT), one={"priority_class": "keep", **LOW}
    ),
    "own queue": Scene(
        law=Invariant.APPLICATION,
        without=without_reason(PodReason.SAME_QUEUE),
        prod={"weight": 3 * WEIGHT_ONE},
        one={"queue": "t.prod", **LOW},
    ),
    "fence": Scene(
        law=Invariant.FENCE,
        without=without_reason(PodReason.OUTSIDE_FENCE),
        prod={"weight": 9 * WEIGHT_ONE},
        above={"fence": True, "weight": 9 * WEIGHT_ONE},
        others=(node("n3", 2), pod("far", node="n3", queue="other", cpu=2, priority=-9)),
        victims={"queue": "other"},
    ),
    "disabled": Scene(law=Invariant.DISABLED, without=without_reason(PodReason.DISABLED), test={"disabled": True}),
    "priority": Scene(
        law=Invariant.PRIORITY,
        without=without_reason(PodReason.HIGHER_PRIORITY),
        prod={"weight": 0},
        member={"priority": 1, "priority_class": "urgent"},
        victims={"priority": 1},
        parameters=URGENT,
    ),
    "minimal": Scene(
        law=Invariant.MINIMAL,
        without=keeping_none,
        last={"node_selector": {"zone": "b"}},
        alone=True,
        others=(
            node("n1", 2),
            node("n2", 2, labels={"zone": "b"}),
            pod("single", node="n1", queue="t.test", cpu=1, created_ms=9),
            pod("ring-1", node="n1", queue="t.test", cpu=1, scheduling_group="ring-n1"),
            pod("ring-2", node="n2", queue="t.test", cpu=2, scheduling_group="ring-n1"),
        ),
    ),
    "whole groups": Scene(law=Invariant.WHOLE, without=splitting, whole=True, at_once=1),
    "one that may not go keeps its group": Scene(
        law=Invariant.WHOLE,
        without=replaced(units, "staying_whole", lambda *_: np.zeros(0, np.intp)),
        whole=True,
        at_once=1,
        victims={"priority_class": "keep"},
        one={"priority_class": ""},
    ),
}


@pytest.mark.parametrize("scene", SCENES.values(), ids=[*SCENES])
def test_without_a_rule_the_audit_refuses_what_comes_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """With it, either nothing is evicted, or what is keeps all invariants."""
    at, shape = scene.world()
    decide = policy("deserved", "arbitrator", scene.parameters)
    terms = audit_terms("deserved", "arbitrator", scene.parameters)
    kept = decide(at, shape, named(at, "gang-0"))
    assert not failed_checks(audit(at, shape, kept, terms=terms))
    scene.without(monkeypatch)
    wrong = decide(*scene.world(), named(at, "gang-0"))
    assert wrong.outcome is Outcome.PREEMPT, wrong
    assert wrong.victims != kept.victims
    assert scene.law in {check.law for check in failed_checks(audit(at, shape, wrong, terms=terms))}
