"""The registry of policies: what the product knows of a policy is found here, and an unknown one is an error.

To add a policy, write a package beside the others with a ``Policy`` object, and register it below.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from engine.audit import INVARIANTS
from engine.model.decision import BY_QUOTA
from engine.policies.cohort import COHORT, FAIR
from engine.policies.common.policy import Policy
from engine.policies.deserved import DESERVED
from engine.policies.fence import FENCE
from engine.policies.priority import PRIORITY, WITH_GROUPS
from engine.policies.volcano import VOLCANO
from engine.policies.yunikorn import YUNIKORN

_REGISTERED: dict[tuple[str, str], Policy] = {}


class UnknownPolicyError(LookupError):
    """Raised for a policy or dialect that this version can't use for decisions. ``str()`` gives a full sentence."""

    def __init__(self, name: str, dialect: str) -> None:
        known = " or ".join(known_dialects().get(name, ()))
        sentence = f"Policy {name} has no dialect {dialect}. Use {known}." if known else f"Unknown policy {name}."
        super().__init__(sentence)
        self.member = "dialect" if known else "policy"
        """Which of the two is not known."""


def register(policy: Policy) -> None:
    """Add a policy in a dialect. Raises ValueError where it is registered already."""
    key = policy.name, policy.dialect
    if key in _REGISTERED:
        raise ValueError(f"Policy {policy.name} is already registered with dialect {policy.dialect}.")
    _REGISTERED[key] = policy
    INVARIANTS[key] = policy.invariants
    if policy.by_quota:
        BY_QUOTA.add(policy.name)


@contextmanager
def registered(policy: Policy) -> Iterator[None]:
    """Add a policy for as long as the context lasts."""
    register(policy)
    try:
        yield
    finally:
        for table in (_REGISTERED, INVARIANTS):
            del table[policy.name, policy.dialect]
        if all(one.name != policy.name for one in policies()):
            BY_QUOTA.discard(policy.name)


def policies() -> tuple[Policy, ...]:
    """Return every policy in every dialect, in the order in which people are shown them."""
    return tuple(_REGISTERED.values())


def find(name: str, dialect: str) -> Policy:
    """Return a policy in a dialect. Raises UnknownPolicyError."""
    found = _REGISTERED.get((name, dialect))
    if found is None:
        raise UnknownPolicyError(name, dialect)
    return found


def first_of(name: str) -> Policy:
    """Return a policy in its first dialect. Raises UnknownPolicyError."""
    found = next((one for one in policies() if one.name == name), None)
    if found is None:
        raise UnknownPolicyError(name, "")
    return found


def known_dialects() -> Mapping[str, tuple[str, ...]]:
    """Return, of every policy, the dialects that can be decided by; the first one is meant where none is named."""
    return {
        name: tuple(one.dialect for one in policies() if one.name == name and one.decider is not None)
        for name in dict.fromkeys(one.name for one in policies())
    }


def foreign_dialects() -> frozenset[str]:
    """Return the dialects that reproduce another scheduler."""
    return frozenset(one.dialect for one in policies() if one.foreign)


def delay_inheriting_dialects() -> frozenset[str]:
    """Return the dialects under which a leaf without a delay or grace period has that of the nearest queue above."""
    return frozenset(one.dialect for one in policies() if one.inherits_delay)


for _policy in (FENCE, YUNIKORN, PRIORITY, WITH_GROUPS, COHORT, FAIR, DESERVED, VOLCANO):
    register(_policy)
