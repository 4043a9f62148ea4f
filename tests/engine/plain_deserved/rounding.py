"""Shares in whole units: rounded down, and then what that left given away in order of names, so that nothing idles."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

from engine.model.quantities import Amounts
from tests.engine.plain_deserved.filling import Claim, Exact


def whole(claims: Sequence[Claim], exact: Mapping[str, Exact], pool: Mapping[str, int]) -> dict[str, Amounts]:
    """Each at least its exact share rounded down; what is left first up to that rounded up, then to who can use it."""
    found = {name: {of: floor(amount) for of, amount in amounts.items()} for name, amounts in exact.items()}
    free = dict(pool)
    for amounts in found.values():
        for name, amount in amounts.items():
            free[name] = free.get(name, 0) - amount
    ordered = sorted((claim for claim in claims if claim.weight and claim.request), key=lambda claim: claim.name)
    for rounded_up in (True, False):
        for claim in ordered:
            share = exact[claim.name]
            limits = {of: ceil(share[of]) if rounded_up else limit for of, limit in usable(claim).items()}
            more = raised(claim, found[claim.name], limits, free)
            for name, amount in more.items():
                found[claim.name][name] = found[claim.name].get(name, 0) + amount
                free[name] -= amount
    return found


def usable(claim: Claim) -> Amounts:
    """What it can use at most: its request, up to the first cap of it."""
    return {name: ceil(claim.most * amount) for name, amount in claim.request.items()}


def raised(claim: Claim, given: Mapping[str, int], limits: Mapping[str, int], free: Mapping[str, int]) -> Amounts:
    """What it gets on top where it alone is raised with what is free: of each resource as much as it can use."""
    if not claim.request:
        return {}
    part = min(
        Fraction(min(limits[name], given.get(name, 0) + free.get(name, 0)), amount)
        for name, amount in claim.request.items()
    )
    wanted = {name: ceil(part * amount) - given.get(name, 0) for name, amount in claim.request.items()}
    return {name: amount for name, amount in wanted.items() if amount > 0}
