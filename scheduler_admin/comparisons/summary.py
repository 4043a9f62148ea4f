"""What to take from a comparison, in a few sentences that claim no more than the figures say."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from engine.planning.comparison import SideFigures
from scheduler_admin.comparisons.columns import figures_of, side_name, terms_name, tree_name
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.core.words import listed, names, span, work_text

_TWO = 2


@dataclass(frozen=True)
class _Patterns:
    """Sentences about the ends of a figure: of both, of the smallest against all others, and of the largest."""

    both: str
    least: str
    most: str


_PREEMPTED = _Patterns(
    gettext_noop("The fewest pods are preempted with %(few)s (%(n)s), and the most with %(many)s (%(m)s)."),
    gettext_noop("The fewest pods are preempted with %(few)s: %(n)s. With every other configuration, it is %(m)s."),
    gettext_noop("The most pods are preempted with %(many)s: %(m)s. With every other configuration, it is %(n)s."),
)
_PENDING = _Patterns(
    gettext_noop("The fewest pods are pending at the end with %(few)s (%(n)s), and the most with %(many)s (%(m)s)."),
    gettext_noop("The fewest pods are pending at the end with %(few)s: %(n)s. With every other one, it is %(m)s."),
    gettext_noop("The most pods are pending at the end with %(many)s: %(m)s. With every other one, it is %(n)s."),
)
_BELOW = _Patterns(
    gettext_noop(
        "Queues are below their guarantee for the shortest time with %(few)s (%(n)s), and for the longest time "
        "with %(many)s (%(m)s)."
    ),
    gettext_noop(
        "Queues are below their guarantee for the shortest time with %(few)s: %(n)s. With every other "
        "configuration, it is %(m)s."
    ),
    gettext_noop(
        "Queues are below their guarantee for the longest time with %(many)s: %(m)s. With every other "
        "configuration, it is %(n)s."
    ),
)


@dataclass(frozen=True)
class _Side:
    name: str
    figures: SideFigures

    @property
    def stable(self) -> bool:
        """Whether its figures are final: a forecast that never ends is cut off somewhere."""
        return not self.figures.loop and self.figures.settles is not False


def summary(comparison: Comparison) -> list[str]:
    """Return the sentences; none where nothing was found yet."""
    sides = _sides(comparison)
    stable = [side for side in sides if side.stable]
    lasting = comparison.until is not None
    every = len(stable) == len(sides)
    found = [*_preempted(stable, every=every), *_missed(stable, lasting=lasting, every=every)]
    found += [_unstable(side) for side in sides if not side.stable]
    return [sentence[:1].upper() + sentence[1:] for sentence in found]


def _sides(comparison: Comparison) -> list[_Side]:
    """Return the sides, each named by what it differs in from the others."""
    kept, found = comparison.sides, figures_of(comparison)
    trees, terms = [tree_name(one) for one in kept], [terms_name(one["policy"], one["dialect"]) for one in kept]
    if len(set(trees)) == 1:
        named = [_("policy %(policy)s") % {"policy": one} for one in terms]
    else:
        named = trees if len(set(terms)) == 1 else [side_name(one) for one in kept]
    if len(set(named)) < len(named):
        named = [_("%(name)s (configuration %(n)s)") % {"name": one, "n": n} for n, one in enumerate(named, 1)]
    return [_Side(name, figures) for name, figures in zip(named, found, strict=False)]


def _preempted(sides: Sequence[_Side], *, every: bool) -> Iterator[str]:
    """Yield how many pods are preempted; ``every``: whether these are all sides of the comparison."""
    if not sides:
        return
    counts = [side.figures.preempted for side in sides]
    if len(sides) == 1:
        yield _of_one(sides[0])
    elif not any(counts):
        yield _none(sides, every=every)
    elif len(sides) == _TWO:
        yield _of_two(*sorted(sides, key=lambda side: side.figures.preempted))
    elif len(set(counts)) == 1:
        yield _same(sides, counts[0], every=every)
    else:
        yield _ends(sides, counts, str, _PREEMPTED, every=every)


def _none(sides: Sequence[_Side], *, every: bool) -> str:
    if len(sides) == _TWO:
        return _("Neither %(a)s nor %(b)s preempts any pods.") % {"a": sides[0].name, "b": sides[1].name}
    pattern = _("No configuration preempts any pods.") if every else _("With %(names)s, no pods are preempted.")
    return pattern % {"names": _joined(sides)}


def _same(sides: Sequence[_Side], n: int, *, every: bool) -> str:
    words = {"names": _joined(sides), "n": n}
    if every:
        return (
            ngettext("Every configuration preempts %(n)s pod.", "Every configuration preempts %(n)s pods.", n) % words
        )
    return _("With %(names)s, as many pods are preempted: %(n)s.") % words


def _of_one(side: _Side) -> str:
    one = side.figures
    words = {"name": side.name, "n": one.preempted, "work": work_text(one.work)}
    if not one.preempted:
        return _("%(name)s preempts no pods.") % words
    if one.unknown or not any(one.work.values()):
        return ngettext("%(name)s preempts %(n)s pod.", "%(name)s preempts %(n)s pods.", one.preempted) % words
    return (
        ngettext(
            "%(name)s preempts %(n)s pod. Its lost work is %(work)s.",
            "%(name)s preempts %(n)s pods. Their lost work is %(work)s.",
            one.preempted,
        )
        % words
    )


def _of_two(few: _Side, many: _Side) -> str:
    """Return how two sides differ in pods and lost work; ``few`` preempts no more than ``many``."""
    less = _less_work(few, many)
    more = None if less else _less_work(many, few)
    words = {"a": few.name, "b": many.name, "few": few.figures.preempted, "many": many.figures.preempted}
    words |= {"work": less or more or ""}
    if few.figures.preempted == many.figures.preempted:
        return _as_many(words, less=less, more=more)
    if less:
        return (
            _("%(a)s preempts fewer pods than %(b)s (%(few)s instead of %(many)s), and %(work)s less work is lost.")
            % words
        )
    if more:
        return (
            _("%(a)s preempts fewer pods than %(b)s (%(few)s instead of %(many)s), but %(work)s more work is lost.")
            % words
        )
    return _("%(a)s preempts fewer pods than %(b)s (%(few)s instead of %(many)s).") % words


def _as_many(words: dict[str, object], *, less: str | None, more: str | None) -> str:
    if more:
        words = {**words, "a": words["b"], "b": words["a"]}
    if less or more:
        return _("%(a)s preempts as many pods as %(b)s (%(few)s), but %(work)s less work is lost.") % words
    return _("%(a)s preempts as many pods as %(b)s (%(few)s).") % words


def _less_work(one: _Side, other: _Side) -> str | None:
    """Return how much less work is lost with one side: less of some resources and more of none. Else None."""
    if one.figures.unknown or other.figures.unknown:
        return None
    mine, theirs = one.figures.work, other.figures.work
    saved = {name: theirs.get(name, 0) - mine.get(name, 0) for name in mine.keys() | theirs.keys()}
    return work_text(saved) if any(saved.values()) and min(saved.values()) >= 0 else None


def _missed(sides: Sequence[_Side], *, lasting: bool, every: bool) -> Iterator[str]:
    """Yield for how long queues miss their guarantee, or else how many pods are left pending."""
    below = [side.figures.below_ms or 0 for side in sides]
    if lasting and len(sides) == 1 and any(sides[0].figures.below.values()):
        path = max(sides[0].figures.below, key=lambda path: (sides[0].figures.below[path], path.count("."), path))
        words = {"queue": path, "time": _time(sides[0].figures.below[path])}
        yield _("Queue %(queue)s is below its guarantee the longest, for %(time)s.") % words
    elif lasting and len(sides) == _TWO and (sentence := _longer(*_in_order(sides))):
        yield sentence
    elif lasting and len(sides) > _TWO and len(set(below)) > 1:
        yield _ends(sides, below, _time, _BELOW, every=every)
    else:
        yield from _pending(sides, every=every)


def _in_order(sides: Sequence[_Side]) -> list[_Side]:
    """Return first the side that preempts fewer pods, as the first sentence does."""
    return sorted(sides, key=lambda side: side.figures.preempted)


def _longer(one: _Side, other: _Side) -> str:
    """Return which queue misses its guarantee for longer with one side than with the other, and which for less.

    Of several, it is the queue with the largest difference, and of a queue and its parent the queue.
    """
    mine, theirs = one.figures.below, other.figures.below
    by_s = {path: round((mine.get(path, 0) - theirs.get(path, 0)) / 1000) for path in mine.keys() | theirs.keys()}
    ordered = sorted(by_s, key=lambda path: (-path.count("."), path))
    worst = max(ordered, key=lambda path: by_s[path], default="")
    best = min(ordered, key=lambda path: by_s[path], default="")
    longer, shorter = max(by_s.get(worst, 0), 0), max(-by_s.get(best, 0), 0)
    words = {"a": one.name, "b": other.name, "queue": worst, "longer": span(longer)}
    words |= {"other": best, "shorter": span(shorter)}
    if longer and shorter:
        return (
            _(
                "With %(a)s, queue %(queue)s is below its guarantee for %(longer)s longer than with %(b)s, and queue "
                "%(other)s for %(shorter)s less."
            )
            % words
        )
    if longer:
        return _("With %(a)s, queue %(queue)s is below its guarantee for %(longer)s longer than with %(b)s.") % words
    if shorter:
        return _("With %(a)s, queue %(other)s is below its guarantee for %(shorter)s less than with %(b)s.") % words
    return ""


def _pending(sides: Sequence[_Side], *, every: bool) -> Iterator[str]:
    counts = [side.figures.waiting for side in sides]
    if len(sides) == 1 and counts[0]:
        yield ngettext("%(n)s pod is pending at the end.", "%(n)s pods are pending at the end.", counts[0]) % {
            "n": counts[0]
        }
    elif len(sides) == _TWO and counts[0] != counts[1]:
        few, many = sorted(sides, key=lambda side: side.figures.waiting)
        n = abs(counts[0] - counts[1])
        yield ngettext(
            "With %(a)s, %(n)s fewer pod is pending at the end than with %(b)s.",
            "With %(a)s, %(n)s fewer pods are pending at the end than with %(b)s.",
            n,
        ) % {"a": few.name, "b": many.name, "n": n}
    elif len(set(counts)) > 1:
        yield _ends(sides, counts, str, _PENDING, every=every)


def _unstable(side: _Side) -> str:
    words = {"name": side.name, "queues": listed(side.figures.loop[:4])}
    if side.figures.loop:
        return _("%(name)s does not become stable: it ends in a preemption loop in %(queues)s.") % words
    return _("%(name)s does not become stable within the simulated passes.") % words


def _ends(
    sides: Sequence[_Side], values: Sequence[int], write: Callable[[int], str], patterns: _Patterns, *, every: bool
) -> str:
    """Return which sides have the smallest and the largest value; one against all others, if it is so."""
    least, most = min(values), max(values)
    few = [side for side, value in zip(sides, values, strict=True) if value == least]
    many = [side for side, value in zip(sides, values, strict=True) if value == most]
    pattern = patterns.both
    if every and len(few) + len(many) == len(sides) and 1 in (len(few), len(many)):
        pattern = patterns.most if len(many) == 1 else patterns.least
    return _(pattern) % {"few": _joined(few), "many": _joined(many), "n": write(least), "m": write(most)}


def _joined(sides: Sequence[_Side]) -> str:
    return names([side.name for side in sides])


def _time(ms: int) -> str:
    return span(round(ms / 1000))
