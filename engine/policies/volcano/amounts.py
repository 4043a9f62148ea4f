"""Represents amounts as Volcano's scheduler counts them: memory in bytes, and all other resources in thousandths.

Source: Volcano's pkg/scheduler/api, resource_info.go. There, amounts are float64. Here, they are integers in millionths
of Volcano's units, which is finer than Volcano compares. ``cpu`` and ``memory`` are always present; other resources are
present only where named.
"""

from collections.abc import Callable, Mapping
from operator import sub

from engine.model.quantities import CPU, PODS, Amounts

Fine = dict[str, int]
"""Resource -> its amount in millionths of the unit that Volcano counts it in."""
MEMORY = "memory"
ALWAYS = (CPU, MEMORY)
ONE = 10**6
SLACK = ONE // 10
"""The difference below which Volcano considers two amounts equal."""
_THOUSANDTHS = 1000


def to_fine(amounts: Mapping[str, int]) -> Fine:
    """Convert amounts from the engine's units."""
    found = {name: amount * ONE * (1 if name in ALWAYS else _THOUSANDTHS) for name, amount in amounts.items()}
    return {CPU: 0, MEMORY: 0} | found


def format_quantities(amounts: Fine) -> dict[str, str]:
    """Format amounts as quantities: ``1500m``, or memory in bytes."""
    rounded = {name: (amount + ONE // 2) // ONE for name, amount in amounts.items()}
    return {name: str(amount) if name == MEMORY else f"{amount}m" for name, amount in rounded.items()}


def less_equal(one: Fine, other: Fine) -> bool:
    """Return whether ``one`` is at most ``other`` in every resource, within the slack."""
    return all(amount < other.get(name, 0) + SLACK for name, amount in one.items())


def is_empty(amounts: Fine) -> bool:
    """Return whether the amounts contain nothing but pods."""
    return not any(amount >= SLACK for name, amount in amounts.items() if name != PODS)


def less(one: Fine, other: Fine) -> Fine:
    """Subtract the amounts ``other`` from ``one``."""
    return combine_amounts(sub, one, other)


def combine_amounts(pick: Callable[[int, int], int], one: Fine, other: Fine) -> Fine:
    """Combine two sets of amounts by applying ``pick`` to each resource that either of them has.

    A missing amount counts as 0.
    """
    return {name: pick(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def limit_to(amounts: Fine, most: Fine) -> Fine:
    """Limit each amount; resources without a limit are unchanged."""
    return {name: min(amount, most.get(name, amount)) for name, amount in amounts.items()}


def limits(capability: Amounts) -> Fine:
    """Return the limits that a capability sets. For cpu and memory, an amount of 0 means no limit."""
    return {name: amount for name, amount in to_fine(capability).items() if amount > 0 or name not in ALWAYS}


def lower_limits(amounts: Fine, most: Fine) -> Fine:
    """Return the lower limits of the two; if only one of them limits a resource, its limit applies."""
    return {**most, **limit_to(amounts, most)}
