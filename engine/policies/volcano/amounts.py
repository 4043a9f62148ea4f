"""Amounts as Volcano's scheduler counts them: thousandths of everything but memory, and it alone in bytes.

Source: Volcano's pkg/scheduler/api, resource_info.go. There they are float64; here integers, millionths of what it
counts in, which is finer than it compares. ``cpu`` and ``memory`` are always there, other resources where named.
"""

from collections.abc import Callable, Mapping
from operator import sub

from engine.model.quantities import CPU, PODS, Amounts

Fine = dict[str, int]
"""Resource -> millionths of what Volcano counts it in."""
MEMORY = "memory"
ALWAYS = (CPU, MEMORY)
ONE = 10**6
SLACK = ONE // 10
"""How far amounts may be apart that it takes for equal."""
_THOUSANDTHS = 1000


def fine(amounts: Mapping[str, int]) -> Fine:
    """Of amounts in the engine's units."""
    found = {name: amount * ONE * (1 if name in ALWAYS else _THOUSANDTHS) for name, amount in amounts.items()}
    return {CPU: 0, MEMORY: 0} | found


def written(amounts: Fine) -> dict[str, str]:
    """As quantities: ``1500m``, memory in bytes."""
    rounded = {name: (amount + ONE // 2) // ONE for name, amount in amounts.items()}
    return {name: str(amount) if name == MEMORY else f"{amount}m" for name, amount in rounded.items()}


def less_equal(one: Fine, other: Fine) -> bool:
    """Whether it is at most the other in every resource, within the slack."""
    return all(amount < other.get(name, 0) + SLACK for name, amount in one.items())


def is_empty(amounts: Fine) -> bool:
    """Whether it is nothing but pods."""
    return not any(amount >= SLACK for name, amount in amounts.items() if name != PODS)


def less(one: Fine, other: Fine) -> Fine:
    """One without the other."""
    return merged(sub, one, other)


def merged(pick: Callable[[int, int], int], one: Fine, other: Fine) -> Fine:
    """What ``pick`` makes of each resource that one of them has; of one that is missing it gets nothing."""
    return {name: pick(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def at_most(amounts: Fine, most: Fine) -> Fine:
    """Each at most its limit; one without a limit is left."""
    return {name: min(amount, most.get(name, amount)) for name, amount in amounts.items()}


def limits(capability: Amounts) -> Fine:
    """What is limited at all: of cpu and memory, nothing is the same as no limit."""
    return {name: amount for name, amount in fine(capability).items() if amount > 0 or name not in ALWAYS}


def capped(amounts: Fine, most: Fine) -> Fine:
    """Limits under other limits: of a resource that only one of them has, that one holds."""
    return {**most, **at_most(amounts, most)}
