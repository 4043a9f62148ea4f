"""Forms of a cluster's settings: its mode, windows and limits."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.db import models
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from scheduler_admin.accounts.verb_words import field_words
from scheduler_admin.clusters.forms.limit_hints import HINTS
from scheduler_admin.clusters.forms.pauses import PlaceForm
from scheduler_admin.clusters.models import Cluster, Window
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.limits import LIMITS, MOST, MOST_NAMES, limits_of
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, PLAIN, Form, KeyField, ReasonField


class ModeForm(Form):
    """How far the engine may go."""

    key = "mode"
    mode = forms.ChoiceField(
        label=gettext_lazy("Mode"),
        choices=Cluster.Mode.choices,
        help_text=gettext_lazy("Observe and Advise only show decisions. Enforce carries them out."),
    )
    override = forms.CharField(
        label=gettext_lazy("Cluster name, to confirm Enforce although the cluster’s own scheduler may preempt too"),
        required=False,
        max_length=limits.CLUSTER_NAME,
        widget=forms.TextInput(attrs={**CODE, "autocomplete": "off"}),
    )
    reason = ReasonField()


class WindowForm(PlaceForm):
    """Add hours in which nothing is evicted, or outside of which nothing is."""

    key = "window"
    kind = forms.ChoiceField(
        label=gettext_lazy("Type"),
        choices=[
            (Window.Kind.DENY.value, gettext_lazy("Deny: no evictions within the window")),
            (Window.Kind.ALLOW.value, gettext_lazy("Allow: no evictions outside the window")),
        ],
    )
    weekdays = forms.MultipleChoiceField(
        label=gettext_lazy("Starts on"),
        required=False,
        choices=[(day, WEEKDAYS_ABBR[number]) for number, day in enumerate(WEEKDAYS)],
        widget=forms.CheckboxSelectMultiple,
    )
    begins = forms.TimeField(label=pgettext_lazy("time", "Start time"), widget=forms.TimeInput(attrs={"type": "time"}))
    ends = forms.TimeField(
        label=gettext_lazy("End time (next day if it is not after the start time)"),
        widget=forms.TimeInput(attrs={"type": "time"}),
    )
    zone = forms.CharField(
        label=gettext_lazy("Time zone"),
        initial="UTC",
        max_length=limits.TIME_ZONE,
        widget=forms.TextInput(attrs=PLAIN),
    )
    first_day = forms.DateField(
        label=gettext_lazy("First day (optional)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    last_day = forms.DateField(
        label=gettext_lazy("Last day (optional)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    reason = ReasonField(max_length=limits.SHOWN_REASON)


class RemoveWindowForm(Form):
    """Remove such hours: a row of the page's table."""

    key = "remove"
    window = KeyField()
    reason = ReasonField(
        widget=forms.TextInput(attrs={"aria-label": gettext_lazy("Reason"), "placeholder": gettext_lazy("Reason")})
    )


class LimitsForm(Form):
    """Change the limits that differ from what the person saw, which the page sends back as ``was:`` and the name."""

    reason = ReasonField()

    def __init__(self, *args: Any, cluster: Cluster, editable: bool = True, **kwargs: Any) -> None:
        now = {name: text_of(value) for name, value in limits_of(cluster).items()}
        super().__init__(*args, initial=now, **kwargs)
        self.now = now
        for name in LIMITS:
            self.fields[name] = _limit_field(name, editable=editable, required=name in self.data)
            self.fields[seen_name(name)] = forms.CharField(required=False, widget=forms.HiddenInput)

    def rows(self) -> Iterator[tuple[forms.BoundField, str]]:
        """Yield each limit with what it is now."""
        for name in LIMITS:
            yield self[name], self.now[name]

    @property
    def sent(self) -> list[str]:
        """Return the names of the limits that came with what was seen of them; others are left alone."""
        return [name for name in LIMITS if name in self.data and seen_name(name) in self.data]

    @property
    def values(self) -> dict[str, Any]:
        """Return what was typed."""
        return {name: self.cleaned_data[name] for name in self.sent}

    @property
    def seen(self) -> dict[str, str]:
        """Return what the page showed."""
        return {name: self.cleaned_data[seen_name(name)] for name in self.sent}


def seen_name(name: str) -> str:
    """Return the name of the field that holds what a person saw in another."""
    return f"was:{name}"


def text_of(value: object) -> str:
    """Return a limit as a form has it."""
    return " ".join(value) if isinstance(value, list) else str(value)


def _limit_field(name: str, *, editable: bool, required: bool) -> forms.Field:
    """Return the field of a limit: a choice, a number, or a text, of which the service says what is wrong with it."""
    hint = HINTS[name]
    settings: dict[str, Any] = {"label": field_words(name), "help_text": hint and _(hint), "required": required}
    choices: dict[str, Any] = {
        "room_kept_by": Cluster.KeptBy.choices,
        "group_scheduling": Cluster.GroupScheduling.choices,
        "publish": [("False", _("no")), ("True", _("yes"))],
    }
    if name in choices:
        control: forms.Widget = forms.Select(attrs={} if editable else {"disabled": True})
        return forms.ChoiceField(choices=choices[name], widget=control, **settings)
    control = forms.TextInput(attrs=PLAIN if editable else {**PLAIN, "readonly": True})
    column = Cluster._meta.get_field(name)  # noqa: SLF001 - documented
    if isinstance(column, models.IntegerField):
        return forms.IntegerField(min_value=0, max_value=MOST, widget=control, **settings)
    most = getattr(column, "max_length", None) or MOST_NAMES * (limits.QUEUE_PATH + 1)
    return forms.CharField(max_length=most, widget=control, **settings | {"required": False})
