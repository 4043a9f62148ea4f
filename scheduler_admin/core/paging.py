"""Pages of rows: of those that come in all the time by the place where the last page ended, of others by number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from scheduler_admin.core.numbers import read_number

M = TypeVar("M", bound=Model)
PAGE = 100
"""Rows of a numbered page."""


@dataclass(frozen=True)
class Cursor:
    """A place between two rows: rows that come in meanwhile never move it.

    Conditions ask for the time once by itself: no index is entered at what either of two conditions holds for.
    """

    at: datetime
    pk: int

    @classmethod
    def of(cls, text: str) -> "Cursor | None":
        """Read a cursor from an address. None for anything that is none."""
        stamp, _, pk = text.rpartition("_")
        try:
            at = datetime.fromisoformat(stamp)
            return cls(at.astimezone(UTC), int(pk)) if at.tzinfo else None
        except (ValueError, OverflowError):
            return None

    def __str__(self) -> str:
        return f"{self.at.isoformat()}_{self.pk}"

    def older(self, by: str = "at", number: str = "number") -> Q:
        """Return the condition for rows below the place in the order of pages."""
        return Q(Q(**{f"{by}__lt": self.at}) | Q(**{f"{number}__lt": self.pk}), **{f"{by}__lte": self.at})

    def newer(self, by: str = "at", number: str = "number") -> Q:
        """Return the condition for rows above the place."""
        return Q(Q(**{f"{by}__gt": self.at}) | Q(**{f"{number}__gt": self.pk}), **{f"{by}__gte": self.at})


def newest(
    rows: QuerySet[M], after: Cursor | None, limit: int, by: str = "at", number: str = "number"
) -> tuple[list[M], Cursor | None]:
    """Return the newest rows below a place, at most ``limit``, and the place of the next page if there is one."""
    if after is not None:
        rows = rows.filter(after.older(by, number))
    return cut(list(rows.order_by(f"-{by}", f"-{number}")[: limit + 1]), limit, by)


def cut(found: list[M], limit: int, by: str = "at") -> tuple[list[M], Cursor | None]:
    """Return the page out of its rows and one more, if there is any, and the place of the next."""
    more = len(found) > limit
    found = found[:limit]
    return found, Cursor(getattr(found[-1], by), found[-1].pk) if more else None


@dataclass(frozen=True)
class Paged:
    """Where in a list a numbered page stands."""

    first: int
    last: int
    many: int
    newer: str
    """The query of the page before; empty where there is none."""
    older: str
    word: str = "page"
    """The word of the query that names the page."""


def numbered(found: Sequence[Any] | QuerySet[Any], query: QueryDict, word: str = "page") -> tuple[list[Any], Paged]:
    """Return the rows of the page that a query asks for, and where it stands; beyond the last page that is returned.

    ``word``: the word of the query that names the page, where an address has several lists.
    """
    many = found.count() if isinstance(found, QuerySet) else len(found)
    page = min(max(1, read_number(query.get(word, ""))), max(1, -(-many // PAGE)))
    first = (page - 1) * PAGE
    shown = list(found[first : first + PAGE])
    newer, older = (_to_page(query, word, number) for number in (page - 1, page + 1))
    more = first + PAGE < many
    return shown, Paged(first + 1, first + len(shown), many, newer if first else "", older if more else "", word)


def _to_page(query: QueryDict, word: str, number: int) -> str:
    query = query.copy()
    query[word] = str(number)
    return query.urlencode()
