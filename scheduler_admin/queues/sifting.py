"""Filters, order and folds of the tree, as the address of the page says them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler_admin.queues.selectors import TreeRow

STANDINGS = ("below", "at", "above")
ORDERS = ("below", "above", "wait")


@dataclass(frozen=True)
class Sift:
    """What of the tree is shown, and in what order. Words that are unknown count as not said."""

    text: str = ""
    standing: str = ""
    waiting: bool = False
    order: str = ""
    folded: frozenset[str] = frozenset()

    @classmethod
    def read(cls, query: Mapping[str, str], folded: Iterable[str]) -> "Sift":
        """From a page's query."""
        standing, order = query.get("state", ""), query.get("sort", "")
        return cls(
            text=query.get("q", "").strip(),
            standing=standing if standing in STANDINGS else "",
            waiting=query.get("asks") == "waiting",
            order=order if order in ORDERS else "",
            folded=frozenset(folded),
        )

    @property
    def filtering(self) -> bool:
        """Whether any filter is set."""
        return bool(self.text or self.standing or self.waiting)

    def matches(self, row: TreeRow) -> bool:
        """Whether the row passes every filter."""
        return (
            self.text.lower() in row.path.lower()
            and (not self.standing or row.stands(self.standing))
            and (not self.waiting or row.asks > 0)
        )


def sift(rows: Sequence[TreeRow], how: Sift) -> list[TreeRow]:
    """The rows to show, fences marked: in tree order with the queues above every match, else leaves in a flat list."""
    matching = [row for row in rows if how.matches(row)]
    if how.order:
        return [replace(row, depth=0) for row in sorted((r for r in matching if r.queue.leaf), key=_key(how.order))]
    if how.filtering:
        kept = {row.path for row in matching}
        rows = [row for row in rows if row.path in kept or any(path.startswith(f"{row.path}.") for path in kept)]
    return mark_fences(rows, how.folded)


def _key(order: str) -> Callable[[TreeRow], tuple[bool, float]]:
    def key(row: TreeRow) -> tuple[bool, float]:
        if order == "wait":
            return row.oldest_ask_ms is None, row.oldest_ask_ms or 0
        excess = [figure.excess for figure in row.figures if figure.guaranteed]
        if order == "below":
            return not excess, min(excess, default=0.0)
        return not excess, -max(excess, default=0.0)

    return key


def is_hidden(path: str, folded: Iterable[str]) -> bool:
    """Whether a folded queue lies above."""
    return any(path.startswith(f"{above}.") for above in folded)


def mark_fences(rows: Sequence[TreeRow], folded: Iterable[str]) -> list[TreeRow]:
    """Rows with the classes that draw a line beside every fence."""
    fences = [row.path for row in rows if row.queue.fenced]
    marks = fence_marks([row.path for row in rows if not is_hidden(row.path, folded)], fences)
    return [replace(row, marks=marks.get(row.path, "")) for row in rows]


def fence_marks(shown: Sequence[str], fences: Sequence[str]) -> dict[str, str]:
    """Path -> the classes that draw a line beside every fence: the outermost, and the nearest inside it.

    Both are in the tree's order.
    """
    around: dict[str, tuple[str, ...]] = {}
    fenced = frozenset(fences)
    for path in shown:
        _fences_around(path, fenced, around)
    ends = {fence: path for path in shown for fence in around[path]}
    result = {}
    for path in shown:
        lines, marks = around[path], list[str]()
        for kind, fence in zip(("outer", "inner"), (lines[0], lines[-1]) if len(lines) > 1 else lines, strict=False):
            marks.append(kind)
            marks += [f"{kind}-top"] * (fence == path) + [f"{kind}-end"] * (ends[fence] == path)
        result[path] = " ".join(marks)
    return result


def _fences_around(path: str, fences: frozenset[str], found: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The fences that hold a queue, itself included, the outermost first; kept in ``found`` with those above it."""
    if path not in found:
        above = path.rpartition(".")[0]
        outer = _fences_around(above, fences, found) if above else ()
        found[path] = (*outer, path) if path in fences else outer
    return found[path]
