"""The filters of the audit log, which are in the address of its page."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.audit_log import AuditFilters
from scheduler_admin.accounts.verb_words import KINDS, VERBS, kind_words, verb_words
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form


class MomentInput(forms.DateTimeInput):
    """A date and a time of day. It shows no text that is neither, which browsers complain about."""

    input_type = "datetime-local"

    def format_value(self, value: Any) -> str | None:
        """Return the value as browsers take it."""
        try:
            found = parse_datetime(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        return found.strftime("%Y-%m-%dT%H:%M") if isinstance(found, datetime) else None


class AuditFilterForm(Form):
    """Choose which events are shown."""

    q = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        max_length=limits.AUDIT_TARGET,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    actor = forms.CharField(
        label=gettext_lazy("Who"), required=False, max_length=limits.USER_NAME, widget=forms.TextInput(attrs=CODE)
    )
    kind = forms.ChoiceField(label=gettext_lazy("Kind of object"), required=False)
    verb = forms.ChoiceField(label=gettext_lazy("Act"), required=False)
    target = forms.CharField(
        label=gettext_lazy("Object"),
        required=False,
        max_length=limits.AUDIT_TARGET,
        widget=forms.TextInput(attrs=CODE),
    )
    since = forms.DateTimeField(label=gettext_lazy("From (UTC)"), required=False, widget=MomentInput)
    until = forms.DateTimeField(label=gettext_lazy("To (UTC)"), required=False, widget=MomentInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = {
            "kind": [(kind, kind_words(kind)) for kind in KINDS],
            "verb": [(verb, verb_words(verb)) for verb in VERBS],
        }
        for name, choices in offered.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", gettext_lazy("any")), *choices]

    @property
    def filters(self) -> AuditFilters:
        """Return the filters that are right; others count as not said, and their fields say what is wrong."""
        if not self.is_valid():
            self.cleaned_data = {name: value for name, value in self.cleaned_data.items() if name not in self.errors}
        given = self.cleaned_data
        words = {name: given.get(name) or "" for name in ("actor", "kind", "verb", "target")}
        since, until = (_utc(given.get(name)) for name in ("since", "until"))
        return AuditFilters(text=given.get("q") or "", since=since, until=until, **words)

    @property
    def filtering(self) -> bool:
        """Whether anything is left out."""
        return any(self.cleaned_data.values())


def _utc(at: datetime | None) -> datetime | None:
    return at.astimezone(UTC) if at and timezone.is_aware(at) else at and at.replace(tzinfo=UTC)
