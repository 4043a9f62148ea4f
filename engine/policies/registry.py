"""Every policy that decides or explains preemption, in every dialect: one object each."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import cohort, deserved, fence, priority, volcano, yunikorn
from engine.tree.reach import BY_GUARANTEES, BY_PRIORITIES, BY_SHARES, Reach, by_quota

Parameters = TypeVar("Parameters", bound=msgspec.Struct)
Decide = Callable[[Snapshot, QueueTree, Pod], Decision]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy in one dialect. A field that a policy has no use for is None; none has a default."""

    name: str
    dialect: str
    parameters: type[msgspec.Struct] | None
    """The parameters that a revision may set; None: nothing is decided by it, it only explains."""
    decider: Callable[[Any], Decide] | None
    """Return the function that decides, for parameters of that type; None likewise."""
    reach: Callable[[Mapping[str, Any]], Reach]
    """Return who may preempt whom as far as the tree tells, for a revision's parameters."""
    foreign: bool
    """Whether it reproduces another scheduler. Then no invariant of ours keeps a decision from being shown."""
    by_quota: bool
    """Whether it decides by quota alone and looks at no node."""
    inherits_delay: bool
    """Whether a leaf without a delay, or grace period, has that of the nearest queue above."""
    within_quotas: bool
    """Whether nobody deserves more than the ResourceQuotas of its namespace let it have."""
    guarded: bool
    """Whether it is given the safeguards to choose within also where nothing is carried out or advised."""

    @property
    def enforceable(self) -> bool:
        """Whether its decisions may be carried out here."""
        return not (self.foreign or self.by_quota)

    def decide_by(self, parameters: Mapping[str, Any]) -> Decide:
        """Return the function that decides by a revision's parameters.

        Raises UnknownPolicyError where nothing is decided by it, msgspec.ValidationError for parameters that it does
        not have.
        """
        if self.parameters is None or self.decider is None:
            raise UnknownPolicyError(self.name, self.dialect)
        return self.decider(msgspec.convert(dict(parameters), self.parameters))


class UnknownPolicyError(LookupError):
    """A policy or dialect that this version can't decide by. ``str()`` is a sentence."""

    def __init__(self, name: str, dialect: str) -> None:
        known = " or ".join(DIALECTS.get(name, ()))
        sentence = f"the dialect of policy {name} is {known}, not {dialect}" if known else f"policy {name}: not yet"
        super().__init__(sentence)
        self.member = "dialect" if name in DIALECTS else "policy"
        """Which of the two is not known."""


def _fence(parameters: fence.Parameters) -> Decide:
    return lambda snapshot, tree, ask: fence.decide(snapshot, tree, ask, parameters)


def _yunikorn(parameters: yunikorn.Parameters) -> Decide:
    return lambda snapshot, tree, ask: yunikorn.decide(snapshot, tree, ask, parameters)


def _priority(parameters: priority.Parameters) -> Decide:
    return lambda snapshot, tree, ask: priority.decide(snapshot, tree, ask, parameters)


def _deserved(parameters: deserved.Parameters) -> Decide:
    return lambda snapshot, tree, ask: deserved.decide(snapshot, tree, ask, parameters)


def _cohort_reach(parameters: Mapping[str, Any]) -> Reach:
    return by_quota(cohort.reading_of(known_parameters(parameters, cohort.Parameters)), fair=False)


def _fair_reach(parameters: Mapping[str, Any]) -> Reach:
    return by_quota(cohort.reading_of(known_parameters(parameters, cohort.Parameters)), fair=True)


POLICIES = (
    Policy(
        name=fence.POLICY,
        dialect=fence.DIALECT,
        parameters=fence.Parameters,
        decider=_fence,
        reach=lambda _parameters: BY_GUARANTEES,
        foreign=False,
        by_quota=False,
        inherits_delay=False,
        within_quotas=False,
        guarded=True,
    ),
    Policy(
        name=fence.POLICY,
        dialect=yunikorn.DIALECT,
        parameters=yunikorn.Parameters,
        decider=_yunikorn,
        reach=lambda _parameters: BY_GUARANTEES,
        foreign=True,
        by_quota=False,
        inherits_delay=True,
        within_quotas=False,
        guarded=False,
    ),
    Policy(
        name=priority.POLICY,
        dialect=priority.DIALECT,
        parameters=priority.Parameters,
        decider=_priority,
        reach=lambda _parameters: BY_PRIORITIES,
        foreign=False,
        by_quota=False,
        inherits_delay=False,
        within_quotas=False,
        guarded=False,
    ),
    Policy(
        name=cohort.POLICY,
        dialect=cohort.DIALECT,
        parameters=cohort.Parameters,
        decider=cohort.ByQuota,
        reach=_cohort_reach,
        foreign=False,
        by_quota=True,
        inherits_delay=False,
        within_quotas=False,
        guarded=False,
    ),
    Policy(
        name=cohort.FAIR_SHARE,
        dialect=cohort.DIALECT,
        parameters=cohort.FairParameters,
        decider=cohort.ByQuota,
        reach=_fair_reach,
        foreign=False,
        by_quota=True,
        inherits_delay=False,
        within_quotas=False,
        guarded=False,
    ),
    Policy(
        name=deserved.POLICY,
        dialect=deserved.DIALECT,
        parameters=deserved.Parameters,
        decider=_deserved,
        reach=lambda _parameters: BY_SHARES,
        foreign=False,
        by_quota=False,
        inherits_delay=True,
        within_quotas=True,
        guarded=True,
    ),
    Policy(
        name=deserved.POLICY,
        dialect=volcano.DIALECT,
        parameters=None,
        decider=None,
        reach=lambda _parameters: BY_SHARES,
        foreign=True,
        by_quota=False,
        inherits_delay=True,
        within_quotas=False,
        guarded=False,
    ),
)
"""In the order in which people are shown them; of a policy's dialects the first is meant where none is named."""
DIALECTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(one.dialect for one in POLICIES if one.name == name and one.decider is not None)
    for name in dict.fromkeys(one.name for one in POLICIES)
}
"""Policy -> the dialects that can be decided by; the first one is meant where none is named."""
FOREIGN = frozenset(one.dialect for one in POLICIES if one.foreign)
"""Dialects that reproduce another scheduler."""
INHERITS_DELAY = frozenset(one.dialect for one in POLICIES if one.inherits_delay)
"""Dialects under which a leaf without a delay, or grace period, has that of the nearest queue above."""
_BY_KEY = {(one.name, one.dialect): one for one in POLICIES}


def find(name: str, dialect: str) -> Policy:
    """Return a policy in a dialect. Raises UnknownPolicyError."""
    found = _BY_KEY.get((name, dialect))
    if found is None:
        raise UnknownPolicyError(name, dialect)
    return found


def known_parameters(parameters: Mapping[str, Any], kind: type[Parameters]) -> Parameters:
    """Return those of a revision's parameters that a type has, with its defaults for the others."""
    names = kind.__struct_fields__
    return msgspec.convert({name: value for name, value in parameters.items() if name in names}, kind)
