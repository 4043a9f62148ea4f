"""Usage over time on the page of a queue: which time and resource, and the preemptions in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.model.quantities import DOMINANT
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors import activity
from scheduler_admin.decisions.selectors.history_filters import LONGEST, fitting, times, written
from scheduler_admin.usage.pages.plots import Mark

RANGES: dict[str, timedelta] = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "1y": timedelta(days=365),
    "2y": timedelta(days=730),
}
MOST = "6h"
"""Without a choice: the smallest range that holds every sample, up to this one."""
MARKS = 200
"""At most so many preemptions are marked, the newest."""
_NARROWEST = timedelta(minutes=2)


@dataclass(frozen=True)
class Span:
    """Which time and resource the plot shows, as the address says."""

    name: str
    """Of RANGES, up to now and moving on; or empty: a time that stands."""
    resource: str
    since: datetime
    until: datetime
    now: datetime

    @classmethod
    def read(cls, query: Mapping[str, str], now: datetime, oldest: Callable[[], datetime | None]) -> "Span":
        """From a page's query; words that are unknown count as not said.

        ``oldest`` returns when the samples begin; it is asked where the query names no time.
        """
        resource, given = query.get("resource", ""), times(query, now)
        if given:
            return cls("", resource, *given, now)
        name = query.get("range", "")
        name = name if name in RANGES else fitting(RANGES, MOST, oldest(), now)
        return cls(name, resource, now - RANGES[name], now, now)

    def address(self, **changed: str) -> str:
        """The query string of this page, or of one that differs in ``changed``."""
        named = {"range": self.name} if self.name else {"from": written(self.since), "to": written(self.until)}
        values = {**named, "resource": self.resource} | changed
        if "range" in changed:
            values = {name: value for name, value in values.items() if name not in {"from", "to"}}
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def ranges(self) -> list[tuple[str, str]]:
        """Every range up to now with its address."""
        return [(name, self.address(range=name)) for name in RANGES]

    @property
    def steps(self) -> list[tuple[str, str, str]]:
        """Where one can go from here: sign, word and address; empty where that is no further."""
        length = self.until - self.since
        return [
            ("←", _("earlier"), self._between(self.since - length / 2, self.until - length / 2)),
            ("→", _("later"), self._between(self.since + length / 2, self.until + length / 2)),
            ("+", _("zoom in"), self._between(self.since + length / 4, self.until - length / 4)),
            ("−", _("zoom out"), self._between(self.since - length / 2, self.until + length / 2)),
        ]

    def _between(self, since: datetime, until: datetime) -> str:
        """A time no later than now, moved back as a whole where it would be, and no earlier than anything is kept."""
        length = min(until - since, LONGEST)
        until = min(until, self.now)
        since = max(until - length, self.now - LONGEST)
        unchanged = (since, until) == (self.since, self.until)
        if unchanged or until - since < _NARROWEST:
            return ""
        kept = {"from": written(since), "to": written(until), "resource": self.resource}
        return urlencode({name: value for name, value in kept.items() if value})


def resource_word(resource: str) -> str:
    """What a choice of the plot is called."""
    return _("dominant share") if resource == DOMINANT else resource


def chosen(span: Span, names: list[str]) -> str:
    """The resource that is shown, of those that there are."""
    return span.resource if span.resource in {*names, DOMINANT} else next(iter(names), "")


def marks(user: Who, redaction: Redaction, cluster: Cluster, path: str, span: Span) -> list[Mark]:
    """The preemptions of a queue in the time shown, each with the page of its decision."""
    found = []
    decisions = reverse("web:decision", args=[cluster.name, 0]).removesuffix("0/")  # looked up once for all
    for row in activity.preemptions_of(user, cluster, path, span.since, span.until, MARKS):
        out = row.taken > 0  # type: ignore[attr-defined]
        pods = row.taken if out else row.lost  # type: ignore[attr-defined]
        told = redaction.preemptor(row).queue
        name = told.rpartition(".")[2]
        if out and row.ask_queue and not told:
            text = ngettext("Lost %(n)s pod", "Lost %(n)s pods", pods)
        elif out:
            text = ngettext("Lost %(n)s pod to %(queue)s", "Lost %(n)s pods to %(queue)s", pods)
        else:
            text = ngettext("Preempted %(n)s pod for %(queue)s", "Preempted %(n)s pods for %(queue)s", pods)
        sentence = text % {"n": pods, "queue": name or _("no queue")}
        found.append(Mark(row.first_seen, sentence, f"{decisions}{row.pk}/", out))
    return found
