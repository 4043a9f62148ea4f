"""The ways to preempt. Each is pure: snapshot, tree, ask and parameters in, Decision out."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine.decision import BY_QUOTA, Decision
from engine.laws import Terms
from engine.policies import cohort, fence, priority, yunikorn
from engine.policies.parameters import Parameter, described
from engine.queues import QueueTree
from engine.snapshot import Pod, Snapshot

DIALECTS = {
    fence.POLICY: (fence.DIALECT, yunikorn.DIALECT),
    priority.POLICY: (priority.DIALECT,),
    cohort.POLICY: (cohort.DIALECT,),
    cohort.FAIR_SHARE: (cohort.DIALECT,),
}
"""The dialects of every policy that can be decided by; the first one is meant where none is named."""

_PARAMETERS: Mapping[tuple[str, str], type[msgspec.Struct]] = {
    (fence.POLICY, fence.DIALECT): fence.Parameters,
    (fence.POLICY, yunikorn.DIALECT): yunikorn.Parameters,
    (priority.POLICY, priority.DIALECT): priority.Parameters,
    (cohort.POLICY, cohort.DIALECT): cohort.Parameters,
    (cohort.FAIR_SHARE, cohort.DIALECT): cohort.FairParameters,
}

FOREIGN = frozenset({yunikorn.DIALECT})
"""Dialects that explain what another scheduler does; no law of ours stops that."""


def enforceable(name: str, dialect: str) -> bool:
    """Whether its decisions may be carried out here."""
    return dialect not in FOREIGN and name not in BY_QUOTA


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
            msgspec.convert(given, priority.Parameters)
            return priority.decide
        case cohort.POLICY, cohort.DIALECT:
            return cohort.ByQuota(msgspec.convert(given, cohort.Parameters))
        case cohort.FAIR_SHARE, cohort.DIALECT:
            return cohort.ByQuota(msgspec.convert(given, cohort.FairParameters))
        case _:
            raise UnknownPolicyError(name, dialect)


def parameters_of(name: str, dialect: str) -> tuple[Parameter, ...]:
    """What a revision may set for a policy in a dialect; nothing for those that this version can't decide by."""
    kind = _PARAMETERS.get((name, dialect))
    return described(kind) if kind else ()


def terms(parameters: Mapping[str, Any]) -> Terms:
    """What a revision's parameters say that an audit needs to know."""
    own = fence.Parameters()
    return Terms(
        last_resort=str(parameters.get("last_resort", own.last_resort)),
        check_delay=bool(parameters.get("check_delay", own.check_delay)),
        reading=cohort.reading_of(msgspec.convert(_known(parameters, cohort.Parameters), cohort.Parameters)),
    )


def _known(parameters: Mapping[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Those that a policy has."""
    names = kind.__struct_fields__
    return {name: value for name, value in parameters.items() if name in names}
