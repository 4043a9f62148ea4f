"""The form that begins a comparison: what can be chosen, what was, and what was sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from engine.policies import foreign_dialects, known_dialects
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons.sides import CURRENT, MOST, Chosen, ways
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.snapshots import snapshots_of
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.selectors import revisions

WHENS = ("now", "at", "between", "snapshot")
_REVISIONS = 30


@dataclass(frozen=True)
class Option:
    """Something that can be chosen, and its words."""

    value: str
    word: str


@dataclass
class CompareForm:
    """What is chosen. ``rows``: always MOST of them, those that are not used with an empty tree."""

    when: str = "now"
    since: str = ""
    until: str = ""
    snapshot: str = ""
    """Which saved one (id)."""
    rows: list[Chosen] = field(default_factory=list)
    errors: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Rows that are not used follow."""
        self.rows = [*self.rows, *[Chosen("")] * (MOST - len(self.rows))][:MOST]

    @classmethod
    def first(cls, query: Mapping[str, str]) -> "CompareForm":
        """``?draft=12`` and ``?revision=3`` are held against the tree in force; else all policies."""
        until = timezone.now().astimezone(UTC).replace(second=0, microsecond=0)
        form = cls(since=_local(until - timedelta(hours=1)), until=_local(until))
        if query.get("snapshot", "").isdecimal():
            form = replace(form, when="snapshot", snapshot=query["snapshot"])
        for kind in ("draft", "revision"):
            if query.get(kind, "").isdecimal():
                return replace(form, rows=[Chosen(CURRENT), Chosen(f"{kind}:{query[kind]}")])
        return replace(form, rows=[Chosen(CURRENT, way) for way in ways()])

    @classmethod
    def sent(cls, given: Mapping[str, str]) -> "CompareForm":
        """As a person sent it."""
        numbers = range(1, MOST + 1)
        rows = [Chosen(given.get(f"tree-{number}", ""), given.get(f"terms-{number}", "")) for number in numbers]
        when = given.get("when", "now")
        return cls(
            when=when if when in WHENS else "now",
            since=given.get("since", ""),
            until=given.get("until", ""),
            snapshot=given.get("snapshot", ""),
            rows=rows,
        )

    @property
    def sides(self) -> list[Chosen]:
        """The rows that are used."""
        return [row for row in self.rows if row.tree]

    def times(self) -> tuple[datetime | None, datetime | None]:
        """Since and until as services.start takes them. Raises ValidationError."""
        since = None if self.when in ("now", "snapshot") else _time("since", self.since)
        return since, _time("until", self.until) if self.when == "between" else None

    def saved(self, user: Who, cluster: Cluster) -> SavedSnapshot | None:
        """The snapshot that is chosen; None where it is not to be one. Raises ValidationError."""
        if self.when != "snapshot":
            return None
        found = next((one for one in snapshots_of(user, cluster) if str(one.pk) == self.snapshot), None)
        if found is None:
            raise ValidationError({"snapshot": _("Choose a snapshot.")})
        return found

    def refused(self, error: ValidationError) -> None:
        """Keep what is wrong, by field; empty: with the whole."""
        self.errors = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}


def _time(name: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise ValidationError({name: _("Say it as a date and a time.")}) from None


def _local(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M")


def trees(user: Who, cluster: Cluster) -> list[Option]:
    """The trees that can be chosen."""
    hierarchy = cluster.hierarchy
    current = hierarchy.current if hierarchy else None
    found = []
    if current is not None:
        found.append(Option(CURRENT, _("revision %(number)s, in force") % {"number": current.number}))
    found += [
        Option(f"draft:{draft.pk}", _("draft %(name)s") % {"name": draft.name})
        for draft in selectors.drafts_of(user, hierarchy)
    ]
    others = [number for number in revisions.numbers(user, hierarchy) if not current or number != current.number]
    found += [
        Option(f"revision:{number}", _("revision %(number)s") % {"number": number}) for number in others[:_REVISIONS]
    ]
    return found


def terms() -> list[Option]:
    """The ways to decide."""
    found = [Option("", _("the tree’s own"))]
    for name, dialects in known_dialects().items():
        for dialect in dialects:
            word = f"{name} ({dialect})" if len(dialects) > 1 else name
            note = _("%(policy)s: as that scheduler does") % {"policy": word} if dialect in foreign_dialects() else word
            found.append(Option(f"{name}/{dialect}", note))
    return found


def context(user: Who, cluster: Cluster, form: CompareForm) -> dict[str, Any]:
    """What the form's template needs."""
    return {
        "form": form,
        "trees": trees(user, cluster),
        "terms": terms(),
        "saved": [Option(str(one.pk), one.name) for one in snapshots_of(user, cluster)],
    }
