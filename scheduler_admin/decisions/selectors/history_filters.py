"""What a reader of the history asks for, read from and written back to an address."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.utils.dateparse import parse_datetime

from scheduler_admin.accounts.former_paths import renames, with_former
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.query import DecisionQuery

RANGES: dict[str, timedelta] = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
}
MOST = "24h"
"""Without a choice: the smallest range that holds all there is, up to this one."""
LONGEST = timedelta(days=731)
"""Nothing is kept for longer."""
_WIDTHS = (
    (timedelta(minutes=20), timedelta(minutes=1)),
    (timedelta(hours=2), timedelta(minutes=5)),
    (timedelta(hours=36), timedelta(hours=1)),
    (timedelta(days=10), timedelta(hours=6)),
    (timedelta(days=120), timedelta(days=1)),
)
OUTCOMES = ("preempt", "fits", "no-candidate", "search-limit", "not-eligible")
"""The engine's; ``all`` asks for every one of them."""
DEFAULT_OUTCOME = "preempt"
STACKS = ("queue", "reason", "source")
# All of these are preemptions. Where they are so by themselves, nothing is said of it: it would lead to a worse index.
_STATES: Mapping[str, Mapping[str, Any]] = {
    "open": {"states": Decision.OPEN},
    "on-hold": {"states": (Decision.State.ON_HOLD,)},
    "dry-run": {"outcomes": (DEFAULT_OUTCOME,), "states": (Decision.State.RECORDED,)},
    "failed-checks": {"against_laws": True},
    "repeated": {"again": True},
}
_TEXT = ("queue", "namespace", "application", "priority_class", "node", "source")


@dataclass(frozen=True)
class Filters:
    """A page of the history, as its address says it. Unknown values fall back to the defaults."""

    now: datetime
    start: datetime
    range: str = ""
    """Of RANGES, ``between``, or nothing: fitted to what there is."""
    end: datetime | None = None
    """None: up to now, and new rows come in."""
    queue: str = ""
    namespace: str = ""
    application: str = ""
    priority_class: str = ""
    node: str = ""
    source: str = ""
    outcome: str = DEFAULT_OUTCOME
    stack: str = "queue"

    @classmethod
    def of(cls, query: Mapping[str, str], now: datetime, oldest: datetime | None = None) -> "Filters":
        """Read the address; ``oldest``: when what there is begins."""
        texts = {name: query.get(name, "").strip() for name in _TEXT}
        chosen, given = query.get("range", ""), times(query, now)
        between = chosen == "between" or given is not None
        if not between:
            chosen = chosen if chosen in RANGES else ""
        start: datetime
        end: datetime | None
        if given:
            start, end = given
        else:
            length = RANGES.get(chosen) or RANGES[fitting(RANGES, MOST, oldest, now)]
            start, end = now - length, now if between else None
        outcome, stack = query.get("outcome", ""), query.get("stack", "")
        known = (*OUTCOMES, *_STATES, *Decision.Ending.values, "all")
        return cls(
            now=now,
            range="between" if between else chosen,
            start=start,
            end=end,
            outcome=outcome if outcome in known else DEFAULT_OUTCOME,
            stack=stack if stack in STACKS else STACKS[0],
            **texts,
        )

    @property
    def until(self) -> datetime:
        """Where the time ends."""
        return self.end or self.now

    @property
    def is_set(self) -> frozenset[str]:
        """The filters that differ from what is shown without any."""
        plain = Filters(now=self.now, start=self.start)
        names = {each.name for each in fields(self)} - {"now", "start", "end", "stack"}
        return frozenset(name for name in names if getattr(self, name) != getattr(plain, name))

    def address(self, **changed: str) -> str:
        """The query string of this page, or of one that differs in ``changed``; defaults are left out."""
        values = {name: getattr(self, name) for name in (*_TEXT, "outcome", "stack", "range")} | changed
        defaults = {"outcome": DEFAULT_OUTCOME, "stack": STACKS[0]}
        kept = {name: value for name, value in values.items() if value and value != defaults.get(name)}
        if values["range"] == "between":
            kept = {"from": written(self.start), "to": written(self.until)} | kept
        return urlencode(kept)

    @cached_property
    def queues(self) -> frozenset[str]:
        """The queue by its path and by those that it, and what lies below it, had before. One query."""
        return with_former(self.queue, renames()) if self.queue else frozenset()

    @property
    def tallied(self) -> bool:
        """Whether tallies tell what is asked for: only preemptions, and by nothing of which each pod has its own."""
        named = self.namespace or self.application or self.priority_class or self.node
        return not named and (self.outcome == DEFAULT_OUTCOME or self.outcome not in {*OUTCOMES, "all"})

    @property
    def query(self) -> DecisionQuery:
        """Return the decisions that are asked for."""
        return DecisionQuery(
            since=self.start,
            until=self.end,
            queues=self.queues,
            namespace=self.namespace,
            application=self.application,
            priority_class=self.priority_class,
            node=self.node,
            source=self.source,
            **self._outcomes(),
        )

    def _outcomes(self) -> Mapping[str, Any]:
        if self.outcome == "all":
            return {"outcomes": OUTCOMES}
        if self.outcome in OUTCOMES:
            return {"outcomes": (self.outcome,)}
        return _STATES.get(self.outcome, {"ending": self.outcome})


def times(query: Mapping[str, str], now: datetime) -> tuple[datetime, datetime] | None:
    """The time that an address says by ``from`` and ``to``; None where it says none, or chooses a range by its name."""
    start, end = _moment(query.get("from", ""), now), _moment(query.get("to", ""), now)
    named = query.get("range", "") not in {"", "between"}
    return None if named or start is None or end is None or start >= end else (start, end)


def fitting(ranges: Mapping[str, timedelta], most: str, oldest: datetime | None, now: datetime) -> str:
    """The smallest of some ranges, the smallest first, that reaches back to ``oldest``, or else ``most``."""
    if oldest is None:
        return most
    return next((name for name, length in ranges.items() if now - length <= oldest or name == most), most)


def width_of(span: timedelta) -> timedelta:
    """How finely a time is told: in a dozen to a hundred pieces, each a round time."""
    return next((width for limit, width in _WIDTHS if span <= limit), timedelta(days=7))


def written(at: datetime) -> str:
    """A time as addresses carry it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _moment(text: str, now: datetime) -> datetime | None:
    """A time out of an address, moved to where there may be history: a page counts by the day all that lies between."""
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    if at is None:
        return None
    return min(max(at if at.tzinfo else at.replace(tzinfo=UTC), now - LONGEST), now + timedelta(days=1))
