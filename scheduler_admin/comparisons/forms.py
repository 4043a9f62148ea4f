"""The form that begins a comparison: what can be chosen, what was, and what was sent."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engine.policies import foreign_dialects, known_dialects
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons.columns import terms_name
from scheduler_admin.comparisons.sides import CURRENT, MOST, Chosen, ways
from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, MomentField
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.snapshots import snapshots_of
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.selectors import revisions

_REVISIONS = 30
_NUMBERS = range(1, MOST + 1)
_WHEN = [
    ("now", gettext_lazy("Current cluster state")),
    ("at", gettext_lazy("Cluster state at a time")),
    ("between", gettext_lazy("Everything recorded in a period")),
    ("snapshot", gettext_lazy("Saved snapshot")),
]
Choices = list[tuple[str, str]]


class CompareForm(Form):
    """What is compared. There are always MOST sides; those that are not used have an empty tree."""

    when = forms.ChoiceField(
        choices=_WHEN,
        required=False,
        widget=forms.RadioSelect,
    )
    since = MomentField(control="c-since", label=gettext_lazy("Time or start of the period"))
    until = MomentField(control="c-until", label=gettext_lazy("End of the period"))
    snapshot = forms.CharField(
        label=gettext_lazy("Snapshot"),
        required=False,
        max_length=limits.COMPARED_TREE,
        widget=forms.Select(attrs={"id": "c-snapshot"}),
    )

    def __init__(self, *args: Any, user: Who, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._snapshots = list(snapshots_of(user, cluster))
        self.saved = bool(self._snapshots)
        self.trees = trees(user, cluster)
        self.offer("snapshot", [(str(one.pk), one.name) for one in self._snapshots])
        if not self.saved:
            when = self.fields["when"]
            assert isinstance(when, forms.ChoiceField)
            when.choices = _WHEN[:-1]
        offered = {"tree": [("", _("none")), *self.trees], "terms": terms()}
        labels = {"tree": _("Queue tree of configuration %(n)s"), "terms": _("Policy of configuration %(n)s")}
        for number in _NUMBERS:
            for kind, choices in offered.items():
                self.fields[f"{kind}-{number}"] = forms.CharField(
                    label=labels[kind] % {"n": number},
                    required=False,
                    max_length=limits.COMPARED_TREE,
                    widget=forms.Select(attrs={"id": f"c-{kind}-{number}"}, choices=choices),
                )

    @classmethod
    def first(cls, query: Mapping[str, str], user: Who, cluster: Cluster) -> "CompareForm":
        """Return a form that compares ``?draft=12`` or ``?revision=3`` with the tree in force, or all policies."""
        until = timezone.now().replace(second=0, microsecond=0)
        shown: dict[str, Any] = {"when": "now", "since": until - timedelta(hours=1), "until": until}
        if query.get("snapshot", "").isdecimal():
            shown |= {"when": "snapshot", "snapshot": query["snapshot"]}
        rows = [Chosen(CURRENT, way) for way in ways()]
        for kind in ("revision", "draft"):
            if query.get(kind, "").isdecimal():
                rows = [Chosen(CURRENT), Chosen(f"{kind}:{query[kind]}")]
        for number, row in zip(_NUMBERS, rows, strict=False):
            shown |= {f"tree-{number}": row.tree, f"terms-{number}": row.terms}
        return cls(initial=shown, user=user, cluster=cluster)

    def rows(self) -> Iterator[tuple[forms.BoundField, forms.BoundField]]:
        """Yield the tree and the policy of each side."""
        for number in _NUMBERS:
            yield self[f"tree-{number}"], self[f"terms-{number}"]

    def clean_when(self) -> str:
        """Return it; what is not sent is now."""
        return self.cleaned_data["when"] or "now"

    def clean_since(self) -> datetime | None:
        """Return it where the comparison begins at a time. Raises ValidationError."""
        return self._moment("since", ("at", "between"))

    def clean_until(self) -> datetime | None:
        """Return it where the comparison ends at a time. Raises ValidationError."""
        return self._moment("until", ("between",))

    def _moment(self, name: str, needed: tuple[str, ...]) -> datetime | None:
        if self.cleaned_data.get("when") not in needed:
            return None
        found = self.cleaned_data[name]
        if not isinstance(found, datetime):
            raise ValidationError(_("Enter a date and a time."))
        return found

    def clean_snapshot(self) -> SavedSnapshot | None:
        """Return the snapshot that is chosen, None where it is not to be one. Raises ValidationError."""
        if self.cleaned_data.get("when") != "snapshot":
            return None
        found = next((one for one in self._snapshots if str(one.pk) == self.cleaned_data["snapshot"]), None)
        if found is None:
            raise ValidationError(_("Choose a snapshot."))
        return found

    @property
    def sides(self) -> list[Chosen]:
        """Return the sides that are used."""
        given = self.cleaned_data
        rows = [Chosen(given[f"tree-{number}"], given[f"terms-{number}"]) for number in _NUMBERS]
        return [row for row in rows if row.tree]


def trees(user: Who, cluster: Cluster) -> Choices:
    """Return the trees that can be chosen."""
    hierarchy = cluster.hierarchy
    current = hierarchy.current if hierarchy else None
    found = []
    if current is not None:
        found.append((CURRENT, _("revision %(number)s (current)") % {"number": current.number}))
    found += [
        (f"draft:{draft.pk}", _("draft %(name)s") % {"name": draft.name})
        for draft in selectors.drafts_of(user, hierarchy)
    ]
    others = [number for number in revisions.numbers(user, hierarchy) if not current or number != current.number]
    found += [(f"revision:{number}", _("revision %(number)s") % {"number": number}) for number in others[:_REVISIONS]]
    return found


def terms() -> Choices:
    """Return the ways to decide."""
    found = [("", _("the tree’s own policy"))]
    for name, dialects in known_dialects().items():
        for dialect in dialects:
            word = terms_name(name, dialect)
            if dialect in foreign_dialects():
                word = _("%(policy)s: decides as %(scheduler)s does") % {
                    "policy": word,
                    "scheduler": Decision.Source.name_of(dialect),
                }
            found.append((f"{name}/{dialect}", word))
    return found
