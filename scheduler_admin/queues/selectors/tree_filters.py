"""Filters, order and folds of the tree, as the address of the page says them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from django.http import QueryDict
from msgspec import structs

from engine.model.queue_tree import PreemptionPolicy
from scheduler_admin.queues.selectors.queues import TreeRow

STANDINGS = ("below", "at", "above")
POLICIES = tuple(PreemptionPolicy)
ORDERS = ("below", "above", "wait")
COLUMNS = ("name", "asks", "in", "out")
AMOUNTS = ("used", "guaranteed", "max", "deserved")
"""With a colon and a resource after it: ``used:cpu``."""
MANY = 200
"""So many rows are shown at first: a larger tree is folded, a longer list is cut."""
MOST = 1_000
"""So many rows are shown together at all; more are shown in pages."""
FOLDED_TO = 100
"""So many of a folded tree: one looks it over, and opens what one wants to see."""
EVERY_LEVEL = 99
_LEVELS = frozenset(map(str, range(1, EVERY_LEVEL)))
_ASCENDING = ("below", "wait", "name")
"""The others begin with the most."""
Times = Mapping[str, Mapping[str, float]]
"""``in`` and ``out`` -> path -> when it was preempted for, or lost pods, at last."""


@dataclass(frozen=True)
class Sift:
    """What of the tree is shown, and in what order. Words that are unknown count as not said."""

    text: str = ""
    standing: str = ""
    policy: str = ""
    waiting: bool = False
    order: str = ""
    backwards: bool = False
    levels: int | None = None
    """So many levels are shown; None: as many as there is room for."""
    folded: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    """All below these is open."""
    whole: bool = False
    """Whether a long list is shown to its end."""

    @classmethod
    def read(cls, query: QueryDict) -> "Sift":
        """From a page's query."""
        standing, policy, levels = query.get("state", ""), query.get("policy", ""), query.get("levels", "")
        order = query.get("sort", "")
        backwards, order = order.startswith("-"), order.removeprefix("-")
        return cls(
            text=query.get("q", "").strip(),
            standing=standing if standing in STANDINGS else "",
            policy=policy if policy in POLICIES else "",
            waiting=query.get("asks") == "waiting",
            order=order if _is_order(order) else "",
            backwards=backwards,
            levels=EVERY_LEVEL if levels == "all" else int(levels) if levels in _LEVELS else None,
            folded=frozenset(query.getlist("folded")),
            opened=frozenset(query.getlist("open")),
            below=frozenset(query.getlist("below")),
            whole=query.get("rows") == "all",
        )

    @property
    def filtering(self) -> bool:
        """Whether any filter is set."""
        return bool(self.text or self.standing or self.policy or self.waiting)

    @property
    def by_column(self) -> bool:
        """Whether it is sorted as a head of the table says."""
        return bool(self.order) and self.order not in ORDERS

    def matches(self, row: TreeRow) -> bool:
        """Whether the row passes every filter."""
        return (
            self.text.lower() in row.path.lower()
            and (not self.standing or row.stands(self.standing))
            and (not self.policy or row.queue.own.preemption_policy == self.policy)
            and (not self.waiting or row.asks > 0)
        )


def _is_order(word: str) -> bool:
    return word in ORDERS + COLUMNS or word.partition(":")[0] in AMOUNTS


def sift(rows: Sequence[TreeRow], how: Sift, times: Times | None = None) -> list[TreeRow]:
    """The rows that pass: in tree order with the queues above every match, else leaves in a flat list (see flat)."""
    matching = [row for row in rows if how.matches(row)] if how.filtering else list(rows)
    if how.order:
        return _sorted([row for row in matching if row.queue.leaf], how, times or {})
    if not how.filtering:
        return matching
    kept = {row.path for row in matching}
    kept |= {above for path in kept for above in _above(path)}
    return [row for row in rows if row.path in kept]


def flat(rows: Iterable[TreeRow]) -> list[TreeRow]:
    """Rows as they stand in a flat list."""
    return [structs.replace(row, depth=0) for row in rows]


def _sorted(rows: Iterable[TreeRow], how: Sift, times: Times) -> list[TreeRow]:
    """What there is nothing to say of comes last, either way."""
    valued = [(_value(row, how.order, times), row) for row in rows]
    told = [(value, row) for value, row in valued if value is not None]
    told.sort(key=lambda pair: pair[0], reverse=(how.order not in _ASCENDING) != how.backwards)
    return [row for _, row in told] + [row for value, row in valued if value is None]


def _value(row: TreeRow, order: str, times: Times) -> tuple[float, str] | None:
    """What a row is sorted by; None: it has nothing of the kind."""
    kind, _colon, resource = order.partition(":")
    found: float | None = 0.0
    if kind in ("below", "above"):
        excess = [excess for excess, promised in row.excesses if promised]
        found = (min if kind == "below" else max)(excess, default=None)
    elif kind == "wait":
        found = row.oldest_ask_ms
    elif kind == "asks":
        found = row.asks
    elif kind in ("in", "out"):
        found = times.get(kind, {}).get(row.path)
    elif kind in AMOUNTS:
        found = next((getattr(figure, kind) for figure in row.figures if figure.resource == resource), None)
    return None if found is None else (found, row.path if kind == "name" else "")


def folds(rows: Sequence[TreeRow], how: Sift) -> frozenset[str]:
    """The parents that are folded: those that the address names, and what lies deeper than there is room for."""
    levels = how.levels or (EVERY_LEVEL if how.filtering else _fitting(rows))
    return frozenset(row.path for row in rows if not row.queue.leaf and _is_folded(row, how, levels))


def _is_folded(row: TreeRow, how: Sift, levels: int) -> bool:
    if row.path in how.folded:
        return True
    if row.path in how.opened or how.below.intersection((row.path, *_above(row.path))):
        return False
    return row.depth + 1 >= levels


def _fitting(rows: Sequence[TreeRow]) -> int:
    """All levels of a tree that is shown whole; of a larger one as many as make FOLDED_TO rows, two at least."""
    if len(rows) <= MANY:
        return EVERY_LEVEL
    depths = Counter([row.depth for row in rows])
    upto = accumulate(depths[depth] for depth in range(max(depths) + 1))
    return max(2, sum(many <= FOLDED_TO for many in upto))


def suggested(paths: Iterable[str]) -> list[str]:
    """The queues that a field suggests while somebody types: all, or those of as many levels as are few enough."""
    found = list(paths)
    if len(found) <= MOST:
        return found
    depths = [path.count(".") for path in found]
    levels = sorted(Counter(depths).items())
    upto = accumulate(many for _depth, many in levels)
    level = max((depth for (depth, _many), so_far in zip(levels, upto, strict=True) if so_far <= MOST), default=-1)
    return [path for path, depth in zip(found, depths, strict=True) if depth <= level]


def is_hidden(path: str, folded: frozenset[str]) -> bool:
    """Whether a folded queue lies above."""
    return any(above in folded for above in _above(path))


def not_hidden(rows: Iterable[TreeRow], folded: frozenset[str]) -> list[TreeRow]:
    """The rows that are not hidden; ``rows``: parents before children."""
    closed, found = set(folded), []
    for row in rows:
        path = row.queue.path
        if path.rpartition(".")[0] in closed:
            closed.add(path)
        else:
            found.append(row)
    return found


def holding(folded: Iterable[str]) -> frozenset[str]:
    """The queues that have a folded one below them."""
    return frozenset(above for path in folded for above in _above(path))


def _above(path: str) -> Iterable[str]:
    """The paths of all above it, the nearest first."""
    while path := path.rpartition(".")[0]:
        yield path


def mark_fences(rows: Sequence[TreeRow], shown: Sequence[str]) -> list[TreeRow]:
    """Rows with the classes that draw a line beside every fence, of those that are ``shown`` (paths)."""
    marks = fence_marks(shown, [row.path for row in rows if row.queue.fenced])
    return [structs.replace(row, marks=marks[row.path]) if marks.get(row.path) else row for row in rows]


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
