"""Pages of rows in the order of a time and an id: found by the place where the last one ended, never by a count."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)


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
