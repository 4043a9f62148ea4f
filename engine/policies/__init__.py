"""The ways to preempt. Each is pure: snapshot, tree, ask and parameters in, Decision out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from engine.decision import BY_QUOTA, Decision
from engine.laws import Terms
from engine.policies import cohort, deserved, fence, priority, volcano, yunikorn
from engine.policies.parameters import Parameter, described
from engine.queues import QueueTree
from engine.reach import BY_GUARANTEES, BY_PRIORITIES, BY_SHARES, Reach, by_quota
from engine.snapshot import Pod, Snapshot

DIALECTS = {
    fence.POLICY: (fence.DIALECT, yunikorn.DIALECT),
    priority.POLICY: (priority.DIALECT,),
    cohort.POLICY: (cohort.DIALECT,),
    cohort.FAIR_SHARE: (cohort.DIALECT,),
    deserved.POLICY: (deserved.DIALECT,),
}
"""The dialects of every policy that can be decided by; the first one is meant where none is named."""

_PARAMETERS: Mapping[tuple[str, str], type[msgspec.Struct]] = {
    (fence.POLICY, fence.DIALECT): fence.Parameters,
    (fence.POLICY, yunikorn.DIALECT): yunikorn.Parameters,
    (priority.POLICY, priority.DIALECT): priority.Parameters,
    (cohort.POLICY, cohort.DIALECT): cohort.Parameters,
    (cohort.FAIR_SHARE, cohort.DIALECT): cohort.FairParameters,
    (deserved.POLICY, deserved.DIALECT): deserved.Parameters,
}

FOREIGN = frozenset({yunikorn.DIALECT, volcano.DIALECT})
"""Dialects that explain what another scheduler does; no law of ours stops that."""

PASSED_ON = FOREIGN | {deserved.DIALECT}
"""Dialects under which a leaf without a delay, or grace period, of its own has that of the nearest queue above."""


def enforceable(name: str, dialect: str) -> bool:
    """Whether its decisions may be carried out here."""
    return dialect not in FOREIGN and name not in BY_QUOTA


def guarded(name: str, dialect: str, *, acting: bool) -> bool:
    """Whether a policy is given the safeguards to choose within.

    ``acting``: whether decisions are carried out or advised; else a dialect that reproduces a scheduler decides as it
    does.
    """
    return enforceable(name, dialect) and (acting or name != priority.POLICY)


def within_quotas(name: str, dialect: str) -> bool:
    """Whether nobody deserves more by a policy than the ResourceQuotas of its namespace let it have."""
    return (name, dialect) == (deserved.POLICY, deserved.DIALECT)


Decide = Callable[[Snapshot, QueueTree, Pod], Decision]


class UnknownPolicyError(LookupError):
    """A policy or dialect that this version can't decide by. ``str()`` is a sentence."""

    def __init__(self, name: str, dialect: str) -> None:
        known = " or ".join(DIALECTS.get(name, ()))
        told = f"the dialect of policy {name} is {known}, not {dialect}" if known else f"policy {name}: not yet"
        super().__init__(told)
        self.member = "dialect" if name in DIALECTS else "policy"
        """Which of the two is not known."""


def policy(name: str, dialect: str, parameters: Mapping[str, Any] | None = None) -> Decide:
    """The function that decides by a policy, a dialect and a revision's parameters.

    Raises UnknownPolicyError, and msgspec.ValidationError for parameters that the policy does not have.
    """
    given = dict(parameters or {})
    match name, dialect:
        case fence.POLICY, fence.DIALECT:
            fences = msgspec.convert(given, fence.Parameters)
            return lambda snapshot, tree, ask: fence.decide(snapshot, tree, ask, fences)
        case fence.POLICY, yunikorn.DIALECT:
            partition = msgspec.convert(given, yunikorn.Parameters)
            return lambda snapshot, tree, ask: yunikorn.decide(snapshot, tree, ask, partition)
        case priority.POLICY, priority.DIALECT:
            budgets = msgspec.convert(given, priority.Parameters)
            return lambda snapshot, tree, ask: priority.decide(snapshot, tree, ask, budgets)
        case cohort.POLICY, cohort.DIALECT:
            return cohort.ByQuota(msgspec.convert(given, cohort.Parameters))
        case cohort.FAIR_SHARE, cohort.DIALECT:
            return cohort.ByQuota(msgspec.convert(given, cohort.FairParameters))
        case deserved.POLICY, deserved.DIALECT:
            shares = msgspec.convert(given, deserved.Parameters)
            return lambda snapshot, tree, ask: deserved.decide(snapshot, tree, ask, shares)
        case _:
            raise UnknownPolicyError(name, dialect)


def by_others(snapshot: Snapshot, tree: QueueTree, ask: Pod, decision: Decision) -> Iterator[Decision]:
    """The ask of a decision, at the same moment, by every other policy and dialect; none is given parameters."""
    for name, dialects in DIALECTS.items():
        for dialect in dialects:
            if (name, dialect) != (decision.policy, decision.dialect):
                within = guarded(name, dialect, acting=False)
                yield policy(name, dialect)(snapshot if within else snapshot.guarded(None), tree, ask)


def parameters_of(name: str, dialect: str) -> tuple[Parameter, ...]:
    """What a revision may set for a policy in a dialect; nothing for those that this version can't decide by."""
    kind = _PARAMETERS.get((name, dialect))
    return described(kind) if kind else ()


def reach_of(name: str, parameters: Mapping[str, Any]) -> Reach:
    """Who may preempt whom under a policy with a revision's parameters; of YuniKorn's dialect what its design says."""
    match name:
        case priority.POLICY:
            return BY_PRIORITIES
        case deserved.POLICY:
            return BY_SHARES
        case cohort.POLICY | cohort.FAIR_SHARE:
            return by_quota(terms(parameters).reading, fair=name == cohort.FAIR_SHARE)
        case _:
            return BY_GUARANTEES


def terms(parameters: Mapping[str, Any]) -> Terms:
    """What a revision's parameters say that an audit needs to know."""
    own, shares = fence.Parameters(), msgspec.convert(_known(parameters, deserved.Parameters), deserved.Parameters)
    return Terms(
        last_resort=str(parameters.get("last_resort", own.last_resort)),
        check_delay=bool(parameters.get("check_delay", own.check_delay)),
        reading=cohort.reading_of(msgspec.convert(_known(parameters, cohort.Parameters), cohort.Parameters)),
        method=shares.method,
        node_fit=shares.node_fit,
        high_priority=shares.high_priority,
    )


def _known(parameters: Mapping[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Those that a policy has."""
    names = kind.__struct_fields__
    return {name: value for name, value in parameters.items() if name in names}
