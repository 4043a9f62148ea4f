"""What a queue has of others beyond what it deserves, and they of it, as far as a reader may know them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.policies.deserved.lending import NOBODY, Loan, Standing, loans
from engine.resources import PODS, column
from scheduler_admin.accounts.scopes import Scope, is_inside


@dataclass(frozen=True)
class Part:
    """Of whom, or whose, and how much."""

    who: Literal["queue", "others", "nobody"]
    """``others``: queues that are not the reader's to see; ``nobody``: what nobody deserves."""
    amount: int
    queue: str = ""


@dataclass(frozen=True)
class Dealing:
    """All that a queue, with those below it, borrows or lends of one resource."""

    resource: str
    borrows: bool
    amount: int
    parts: tuple[Part, ...]
    """The largest first."""


def dealings(scope: Scope, figures: Mapping[str, Mapping[str, Any]], leaves: Sequence[str], path: str) -> list[Dealing]:
    """What a queue borrows of others and lends them; ``figures`` as ClusterStatus.queues. Empty without shares."""
    known = {leaf: figures[leaf] for leaf in leaves if "deserved" in figures.get(leaf, {})}
    names = {name for one in known.values() for kind in ("used", "deserved") for name in one[kind]} - {PODS}
    return [found for name in sorted(names, key=column) for found in _of(scope, known, name, path)]


def _of(scope: Scope, known: Mapping[str, Mapping[str, Any]], resource: str, path: str) -> Iterator[Dealing]:
    every = loans(
        {
            leaf: Standing(used=one["used"].get(resource, 0), deserved=one["deserved"].get(resource, 0))
            for leaf, one in known.items()
        },
        lambda leaf: is_inside(leaf, path),
    )
    sides: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for loan in every:
        borrows, lends = is_inside(loan.borrower, path), is_inside(loan.lender, path)
        if borrows != lends:  # what those below it lend each other is not told of it
            other = _other(scope, loan, borrows=borrows)
            sides[borrows][other] = sides[borrows].get(other, 0) + loan.amount
    for borrows, amounts in sides.items():
        if amounts:
            yield Dealing(resource, borrows, sum(amounts.values()), tuple(_parts(amounts.items())))


_OTHERS = "*"


def _other(scope: Scope, loan: Loan, *, borrows: bool) -> str:
    other = loan.lender if borrows else loan.borrower
    return other if other == NOBODY or scope.has_path(other) else _OTHERS


def _parts(amounts: Iterable[tuple[str, int]]) -> Iterator[Part]:
    for other, amount in sorted(amounts, key=lambda pair: (-pair[1], pair[0])):
        if other in (NOBODY, _OTHERS):
            yield Part("nobody" if other == NOBODY else "others", amount)
        else:
            yield Part("queue", amount, other)
