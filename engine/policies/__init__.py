"""The ways to preempt. Each is pure: snapshot, tree, ask and parameters in, Decision out."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.audit import AuditTerms
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import cohort, deserved, fence
from engine.policies.common.parameters import Parameter, described
from engine.policies.registry import (
    DIALECTS,
    FOREIGN,
    INHERITS_DELAY,
    POLICIES,
    Decide,
    Policy,
    UnknownPolicyError,
    find,
    known_parameters,
)
from engine.tree.reach import Reach

__all__ = [
    "DIALECTS",
    "FOREIGN",
    "INHERITS_DELAY",
    "POLICIES",
    "Decide",
    "Policy",
    "UnknownPolicyError",
    "by_others",
    "enforceable",
    "find",
    "guarded",
    "parameters_of",
    "policy",
    "reach_of",
    "terms",
    "within_quotas",
]


def enforceable(name: str, dialect: str) -> bool:
    """Return whether its decisions may be carried out here. Raises UnknownPolicyError."""
    return find(name, dialect).enforceable


def guarded(name: str, dialect: str, *, acting: bool) -> bool:
    """Return whether a policy is given the safeguards to choose within. Raises UnknownPolicyError.

    ``acting``: whether decisions are carried out or advised; else a dialect that reproduces a scheduler decides as it
    does.
    """
    one = find(name, dialect)
    return one.guarded or (acting and one.enforceable)


def within_quotas(name: str, dialect: str) -> bool:
    """Return whether nobody deserves more than the ResourceQuotas of its namespace. Raises UnknownPolicyError."""
    return find(name, dialect).within_quotas


def policy(name: str, dialect: str, parameters: Mapping[str, Any] | None = None) -> Decide:
    """Return the function that decides by a policy, a dialect and a revision's parameters.

    Raises UnknownPolicyError, and msgspec.ValidationError for parameters that the policy does not have.
    """
    return find(name, dialect).decide_by(parameters or {})


def by_others(snapshot: Snapshot, tree: QueueTree, ask: Pod, decision: Decision) -> Iterator[Decision]:
    """Yield what every other policy and dialect, without parameters, decides of an ask at the same moment."""
    for one in POLICIES:
        if one.decider is not None and (one.name, one.dialect) != (decision.policy, decision.dialect):
            yield one.decide_by({})(snapshot if one.guarded else snapshot.guarded(None), tree, ask)


def parameters_of(name: str, dialect: str) -> tuple[Parameter, ...]:
    """Return what may be set for a policy in a dialect: nothing for an unknown one, which a draft may name for now."""
    try:
        kind = find(name, dialect).parameters
    except UnknownPolicyError:
        return ()
    return described(kind) if kind else ()


def reach_of(name: str, parameters: Mapping[str, Any]) -> Reach:
    """Return who may preempt whom under a policy with a revision's parameters. Raises UnknownPolicyError.

    Of a dialect that reproduces a scheduler that is what its design says.
    """
    own = next((one for one in POLICIES if one.name == name), None)
    if own is None:
        raise UnknownPolicyError(name, "")
    return own.reach(parameters)


def terms(parameters: Mapping[str, Any]) -> AuditTerms:
    """Return what a revision's parameters say that an audit needs to know."""
    own, shares = fence.Parameters(), known_parameters(parameters, deserved.Parameters)
    return AuditTerms(
        last_resort=str(parameters.get("last_resort", own.last_resort)),
        check_delay=bool(parameters.get("check_delay", own.check_delay)),
        reading=cohort.reading_of(known_parameters(parameters, cohort.Parameters)),
        method=shares.method,
        node_fit=shares.node_fit,
        high_priority=shares.high_priority,
    )
