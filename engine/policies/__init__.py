"""The ways to preempt. Each is pure: a snapshot, a tree, a pending pod and parameters give a Decision."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.audit import AuditTerms
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.parameters import Parameter, describe_parameters
from engine.policies.common.policy import Policy
from engine.policies.common.policy_types import Decide, QueueShare, ShareBasis
from engine.policies.common.texts import PolicyTexts
from engine.policies.registry import (
    UnknownPolicyError,
    delay_inheriting_dialects,
    find,
    first_of,
    foreign_dialects,
    known_dialects,
    policies,
    register,
    registered,
)
from engine.tree.lint.rules import LintRules
from engine.tree.reach import Reach

__all__ = [
    "Decide",
    "Policy",
    "PolicyTexts",
    "QueueShare",
    "ShareBasis",
    "UnknownPolicyError",
    "audit_terms",
    "decisions_of_other_policies",
    "delay_inheriting_dialects",
    "find",
    "first_of",
    "foreign_dialects",
    "guarded",
    "is_enforceable",
    "known_dialects",
    "lint_rules",
    "parameters_of",
    "policies",
    "policy",
    "reach_of",
    "register",
    "registered",
    "texts_of",
    "within_quotas",
]


def is_enforceable(name: str, dialect: str) -> bool:
    """Return whether decisions of a policy in a dialect may be carried out here. Raises UnknownPolicyError."""
    return find(name, dialect).enforceable


def guarded(name: str, dialect: str, *, acting: bool) -> bool:
    """Return whether a policy must choose victims within the safeguards. Raises UnknownPolicyError.

    ``acting``: whether decisions are carried out or advised. Otherwise, a dialect that reproduces a scheduler decides
    as that scheduler does, without safeguards.
    """
    one = find(name, dialect)
    return one.guarded or (acting and one.enforceable)


def within_quotas(name: str, dialect: str) -> bool:
    """Return whether ResourceQuotas of a namespace limit what its leaf deserves. Raises UnknownPolicyError."""
    return find(name, dialect).within_quotas


def policy(name: str, dialect: str, parameters: Mapping[str, Any] | None = None) -> Decide:
    """Return the function that makes decisions for a policy, a dialect and a revision's parameters.

    Raises UnknownPolicyError, also where nothing is decided by the policy, and msgspec.ValidationError for parameters
    that the policy does not have.
    """
    decide = find(name, dialect).decide_by(parameters or {})
    if decide is None:
        raise UnknownPolicyError(name, dialect)
    return decide


def decisions_of_other_policies(
    snapshot: Snapshot, tree: QueueTree, ask: Pod, decision: Decision
) -> Iterator[Decision]:
    """Yield what every other policy and dialect, without parameters, decides of a pending pod at the same moment."""
    for one in policies():
        decide = one.decide_by({})
        if decide is not None and (one.name, one.dialect) != (decision.policy, decision.dialect):
            yield decide(snapshot if one.guarded else snapshot.guarded(None), tree, ask)


def parameters_of(name: str, dialect: str) -> tuple[Parameter, ...]:
    """Return the parameters of a policy in a dialect.

    An unknown policy or dialect, which a draft may name temporarily, has none.
    """
    try:
        kind = find(name, dialect).parameters
    except UnknownPolicyError:
        return ()
    return describe_parameters(kind) if kind else ()


def lint_rules(name: str, dialect: str) -> LintRules | None:
    """Return what lint checks in trees for a policy in a dialect.

    An unknown policy or dialect, which a draft may name temporarily, has no rules.
    """
    try:
        return find(name, dialect).lint
    except UnknownPolicyError:
        return None


def reach_of(name: str, parameters: Mapping[str, Any]) -> Reach:
    """Return which queues may preempt which under a policy with a revision's parameters.

    For a dialect that reproduces a scheduler, this is the reach that its design document describes. Raises
    UnknownPolicyError.
    """
    return first_of(name).reach(parameters)


def audit_terms(name: str, dialect: str, parameters: Mapping[str, Any]) -> AuditTerms:
    """Return what a revision's parameters change about the audit. Raises UnknownPolicyError."""
    return find(name, dialect).terms(parameters)


def texts_of(name: str, dialect: str = "") -> PolicyTexts:
    """Return the texts of a policy in a dialect, or in its first one if it lacks that. Raises UnknownPolicyError."""
    return next((one.texts for one in policies() if (one.name, one.dialect) == (name, dialect)), first_of(name).texts)
