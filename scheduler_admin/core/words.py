"""Amounts, durations and standings as people read them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import gcd
from string import ascii_letters

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext

from engine.model.quantities import CPU, DOMINANT, column, format_amount, is_bytes
from engine.model.queue_tree import GuaranteeStatus

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}

_PER_CENT = 10_000
"""Of shares, which are millionths."""

SECONDS, MINUTES, HOURS, DAYS = (
    gettext_noop("%(n)s s"),
    gettext_noop("%(n)s min"),
    gettext_noop("%(n)s h"),
    gettext_noop("%(n)s d"),
)
AGO = gettext_noop("%(time)s ago")


def unit_words() -> dict[str, str]:
    """The patterns of durations in the active language, for the module that counts on in the browser."""
    return {"s": _(SECONDS), "min": _(MINUTES), "h": _(HOURS), "d": _(DAYS), "ago": _(AGO)}


def duration(seconds: float) -> str:
    """A length of time in one unit: ``42 s``, ``6 min``, ``26 h``, ``3 d``."""
    whole = max(0, int(seconds))
    if whole < 90:  # noqa: PLR2004 - below one and a half of a unit the finer one says more
        return _(SECONDS) % {"n": whole}
    if whole < 5_400:  # noqa: PLR2004
        return _(MINUTES) % {"n": whole // 60}
    if whole < 129_600:  # noqa: PLR2004
        return _(HOURS) % {"n": whole // 3_600}
    return _(DAYS) % {"n": whole // 86_400}


def span(seconds: int) -> str:
    """A length of time in its two largest units: ``42 s``, ``4 h 12 min``, ``3 d 1 h``."""
    minutes, hours = seconds // 60, seconds // 3_600
    parts = [(DAYS, hours // 24), (HOURS, hours % 24), (MINUTES, minutes % 60), (SECONDS, seconds % 60)]
    first = next((index for index, (_unit, count) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(_(unit) % {"n": count} for unit, count in parts[first : first + 2] if count) or _(SECONDS) % {
        "n": 0
    }


def work_text(done: Mapping[str, int]) -> str:
    """Work (see engine.observation.lost_work) as people say it: ``18.9 core hours, 4.2 gpu hours``."""
    ordered = sorted((name for name, amount in done.items() if amount), key=column)
    return listed(_work(name, done[name]) for name in ordered) or pgettext("work", "none")


def _work(resource: str, done: int) -> str:
    hours, name = work_hours(resource, done, finer=True), resource.rpartition("/")[2]
    if resource == CPU:
        return _("%(n)s core-hours") % {"n": hours}
    if is_bytes(resource):
        return _("%(n)s GiB-hours of %(resource)s") % {"n": hours, "resource": name}
    return _("%(n)s %(resource)s-hours") % {"n": hours, "resource": name}


def work_unit(resource: str) -> str:
    """What a column of ``work_hours`` counts."""
    if resource == CPU:
        return _("core-hours")
    name = resource.rpartition("/")[2]
    if is_bytes(resource):
        return _("GiB-hours") if name == "memory" else _("%(resource)s, GiB-hours") % {"resource": name}
    return _("%(resource)s-hours") % {"resource": name}


def work_hours(resource: str, done: int, *, finer: bool = False) -> str:
    """Work in core hours, GiB hours or hours of a device, with one decimal; ``finer``: two below one."""
    hours = done / (1000 if resource == CPU else _UNITS["Gi"] if is_bytes(resource) else 1) / 3_600
    digits = 2 if finer and hours < 1 else 1
    return f"<{10**-digits}" if 0 < hours < 10**-digits / 2 else f"{hours:.{digits}f}"


def ago(seconds: float) -> str:
    """How long something is past: ``2 s ago``."""
    return _(AGO) % {"time": duration(seconds)}


def took(microseconds: int) -> str:
    """How long a pass took: ``41 ms``, ``1.2 s``."""
    if microseconds < 1_000_000:  # noqa: PLR2004
        return _("%(n)s ms") % {"n": max(1, round(microseconds / 1000))}
    return _(SECONDS) % {"n": f"{microseconds / 1_000_000:.1f}"}


def exact(at: datetime) -> str:
    """The time in UTC to the second, as a hover text."""
    return f"{at.astimezone(UTC).isoformat(' ', 'seconds')[:19]} UTC"


def queue_name(path: str) -> str:
    """The last part of a queue's path."""
    return path.rpartition(".")[2]


def comma() -> str:
    """What separates two clauses: ``, `` or ``，``."""
    return pgettext("between clauses", ", ")


def list_comma() -> str:
    """What separates the names of a list: ``, `` or ``、``."""
    return pgettext("between the names of a list", ", ")


def semicolon() -> str:
    """What separates two sentences in one line: ``; `` or ``；``."""
    return pgettext("between clauses", "; ")


def colon() -> str:
    """What separates a name from what is said of it: ``: `` or ``：``."""
    return pgettext("after a name", ": ")


def listed(found: Iterable[str]) -> str:
    """Names one after the other: ``a, b, c``."""
    return list_comma().join(found)


def names(found: Sequence[str], most: int = 8, word: Callable[[str], str] = str) -> str:
    """``cpu, memory and nvidia.com/gpu``; of more than ``most`` the first ones and how many more.

    ``word``: how each is called.
    """
    shown = list(map(word, found[:most]))
    if len(found) > most:
        shown.append(ngettext("%(n)s more", "%(n)s more", len(found) - most) % {"n": len(found) - most})
    return get_text_list(shown, _("and"))


def readable(resource: str, value: int) -> tuple[str, str]:
    """Digits and unit as people type them; sums of bytes that no unit divides are rounded to three digits."""
    if resource == DOMINANT:
        return f"{value / _PER_CENT:.1f}", "%"
    text = format_amount(resource, value)
    if is_bytes(resource):
        number = text.rstrip(ascii_letters)
        if len(number.lstrip("-")) <= 4:  # noqa: PLR2004
            return number, text.removeprefix(number)
        for unit in reversed(_UNITS):
            if abs(value) >= _UNITS[unit]:
                return f"{value / _UNITS[unit]:.3g}" if abs(value) < 1000 * _UNITS[unit] else str(
                    round(value / _UNITS[unit])
                ), unit
        return str(value), ""
    return (text[:-1], "m") if resource == CPU and text.endswith("m") else (text, "")


def amount_text(resource: str, value: int) -> str:
    """The amount as one word: ``1500m``, ``32Gi``, ``2``."""
    return "".join(readable(resource, value))


def standing_word(status: GuaranteeStatus) -> str:
    """Return the one word for how usage compares with what is promised, where its column says the amounts."""
    match status:
        case GuaranteeStatus.NONE:
            return pgettext("compared with the guarantee", "none")
        case GuaranteeStatus.AT:
            return pgettext("compared with the guarantee", "at")
        case GuaranteeStatus.BELOW:
            return pgettext("compared with the guarantee", "below")
        case GuaranteeStatus.ABOVE:
            return pgettext("compared with the guarantee", "above")


def standing_text(
    used: int, promised: int | None, write: Callable[[int], str], lent: int = 0, *, shared: bool = False
) -> str:
    """Return how usage compares with what is promised, such as ``2 below guarantee (1 lent)``.

    ``write`` writes amounts. ``shared``: a deserved share is promised, not a guarantee.
    """
    match GuaranteeStatus.of(used, promised):
        case GuaranteeStatus.NONE:
            return _("no guarantee")
        case GuaranteeStatus.AT:
            return _("at deserved share") if shared else _("at guarantee")
        case GuaranteeStatus.BELOW if shared:
            pattern = (
                _("%(amount)s below deserved share (%(lent)s lent)") if lent else _("%(amount)s below deserved share")
            )
        case GuaranteeStatus.BELOW:
            pattern = _("%(amount)s below guarantee (%(lent)s lent)") if lent else _("%(amount)s below guarantee")
        case GuaranteeStatus.ABOVE:
            pattern = _("%(amount)s above deserved share") if shared else _("%(amount)s above guarantee")
    return pattern % {"amount": write(abs(used - (promised or 0))), "lent": write(lent)}


_SHORT = 6


@dataclass(frozen=True)
class Unit:
    """One unit for all amounts of a resource in a column, so that digits line up."""

    resource: str
    name: str
    size: int
    decimals: int
    short: bool = False
    """No amount of the column is longer than six characters, so that three of them and a word fit side by side."""

    @classmethod
    def of(cls, resource: str, values: Collection[int], promised: Collection[int] = ()) -> "Unit":
        """Cores for cpu, for bytes the largest binary unit that divides all values or leaves them digits, else ones.

        None of what is ``promised`` (zero says nothing) is less than half a unit: one decimal is enough to tell it.
        """
        name, size = "", 1
        largest = max(max(values, default=0), -min(values, default=0))
        if resource == DOMINANT:
            return cls(resource, "%", _PER_CENT, 1)
        common = gcd(*values)  # divided by what divides all of them
        if resource == CPU:
            size = 1000
        elif is_bytes(resource):
            least = min(filter(None, promised), default=largest)
            fitting = [
                unit
                for unit, scale in _UNITS.items()
                if (scale * 8 <= largest and scale <= 2 * least) or (scale <= largest and common % scale == 0)
            ]
            name = fitting[-1] if fitting else "Mi"
            size = _UNITS[name]
        decimals = 0 if common % size == 0 else 1
        return cls(resource, name, size, decimals, len(f"{largest / size:.{decimals}f}{name}") <= _SHORT)

    @property
    def label(self) -> str:
        """What the column's head says of it."""
        return _("cores") if self.resource == CPU else self.name

    def split(self, value: int) -> tuple[str, str]:
        """Whole digits and what stands after the point (empty where that is nothing)."""
        text = f"{value / self.size:.{self.decimals}f}"
        whole, _point, fraction = text.partition(".")
        return whole, f".{fraction}" if fraction.strip("0") else ""

    def text(self, value: int) -> str:
        """The amount as one word, without the blank that lines digits up."""
        return f"{''.join(self.split(value))}{self.name}"
