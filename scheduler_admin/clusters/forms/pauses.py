"""Forms of pauses: in the top bar, on the page of all clusters, and on the settings of a cluster."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, MomentField, ReasonField

EVERYWHERE = "*"
"""All clusters, as the forms name them; empty is this one, anything else the path of a queue."""
_UNTIL = "until"
_LENGTHS = [
    ("30", gettext_lazy("30 minutes")),
    ("120", gettext_lazy("2 hours")),
    ("480", gettext_lazy("8 hours")),
    (_UNTIL, gettext_lazy("Until a time")),
    ("", gettext_lazy("Until resumed")),
]


class PlaceForm(Form):
    """Something that holds in all clusters, in this one, or around a queue."""

    renamed = {"queue": "where"}
    where = forms.CharField(
        label=gettext_lazy("Scope"), required=False, max_length=limits.QUEUE_PATH, widget=forms.Select
    )

    def place(self, cluster: Cluster) -> tuple[Cluster | None, str]:
        """Return the cluster, None for all, and the path of the queue, empty for the whole cluster."""
        where = self.cleaned_data["where"]
        return (None, "") if where == EVERYWHERE else (cluster, where)

    def offer_places(self, cluster: Cluster, queues: Collection[str], suggested: Collection[str]) -> None:
        """Let people choose among all places, or type one where only some ``queues`` are ``suggested``."""
        here = _("whole cluster %(name)s") % {"name": cluster.name}
        places = [(EVERYWHERE, _("all clusters")), *((path, path) for path in suggested)]
        if len(suggested) < len(queues):
            self.suggest("where", places, empty=here)
        else:
            self.offer("where", [("", here), *places])


class PauseForm(PlaceForm):
    """Stop all evictions in a place."""

    key = "pause"
    length = forms.ChoiceField(
        label=pgettext_lazy("how long", "Duration"), choices=_LENGTHS, required=False, initial="30"
    )
    until = MomentField(label=gettext_lazy("Until"))
    reason = ReasonField(max_length=limits.SHOWN_REASON)

    def clean(self) -> dict[str, Any]:
        """Ask for the time that the pause lasts until, where it lasts until a time."""
        if self.cleaned_data.get("length") == _UNTIL and self.cleaned_data.get("until", True) is None:
            raise ValidationError({"until": _("Enter a date and a time.")})
        return self.cleaned_data

    def ends(self, now: datetime) -> datetime | None:
        """Return when the pause ends by itself; None: when somebody resumes."""
        length, until = self.cleaned_data["length"], self.cleaned_data["until"]
        if length == _UNTIL:
            return until if isinstance(until, datetime) else None
        return now + timedelta(minutes=int(length)) if length else None


class ResumeForm(PlaceForm):
    """End a pause. Its button asks for no reason."""

    key = "resume"
    reason = ReasonField(required=False)
