"""Forms of pauses: on the settings of a cluster, and on the page of all clusters."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, ReasonField

EVERYWHERE = "*"
"""All clusters, as the forms name them; empty is this one, anything else the path of a queue."""
MOST_MINUTES = 525_600
"""A year."""
_MINUTES = gettext_lazy("Enter a whole number of minutes, at most 525600 (one year).")


class ClusterPauseForm(Form):
    """Stop evictions in a cluster from the page of all clusters."""

    reason = ReasonField(max_length=limits.SHOWN_REASON, widget=forms.TextInput(attrs={"autofocus": True}))


class ClusterResumeForm(Form):
    """Let evictions go on there."""

    reason = ReasonField(
        label=gettext_lazy("Reason (optional)"), required=False, widget=forms.TextInput(attrs={"autofocus": True})
    )


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

    def offer_places(self, cluster: Cluster, queues: Iterable[str]) -> None:
        """Let people choose among all places."""
        here = ("", _("whole cluster %(name)s") % {"name": cluster.name})
        self.offer("where", [here, (EVERYWHERE, _("all clusters")), *((path, path) for path in queues)])


class PauseForm(PlaceForm):
    """Stop all evictions in a place."""

    key = "pause"
    minutes = forms.IntegerField(
        label=gettext_lazy("Duration in minutes (empty: until resumed)"),
        required=False,
        min_value=1,
        max_value=MOST_MINUTES,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "maxlength": len(str(MOST_MINUTES))}),
        error_messages={"invalid": _MINUTES, "min_value": _MINUTES, "max_value": _MINUTES},
    )
    reason = ReasonField(max_length=limits.SHOWN_REASON)


class ResumeForm(PlaceForm):
    """End a pause. Its row on the page asks for no reason."""

    key = "resume"
    reason = ReasonField(required=False)
