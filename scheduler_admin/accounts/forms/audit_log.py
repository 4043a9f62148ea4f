"""The filters of the audit log, which are in the address of its page."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.audit_log import AuditFilters
from scheduler_admin.accounts.verb_words import KINDS, VERBS, kind_words, verb_words
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, MomentField


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
    since = MomentField(label=gettext_lazy("From"))
    until = MomentField(label=gettext_lazy("To"))

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
        return AuditFilters(text=given.get("q") or "", since=given.get("since"), until=given.get("until"), **words)

    @property
    def filtering(self) -> bool:
        """Whether anything is left out."""
        return any(self.cleaned_data.values())
