"""Forms of the page of a cluster's own copy of the tree."""

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, KeyField, ReasonField

_WHY = gettext_lazy("Reason (kept in the audit log)")


class NothingForm(Form):
    """Nothing but a button: look now, or take the copy into a draft."""


class WriteForm(Form):
    """Write the revision in force over the copy that the person saw."""

    key = "write"
    revision = KeyField()
    version = forms.CharField(required=False, max_length=limits.COPY_VERSION, widget=forms.HiddenInput)
    over = KeyField()
    overwrite = forms.BooleanField(required=False, widget=forms.CheckboxInput(attrs={"required": True}))
    reason = ReasonField(label=_WHY, max_length=limits.SHOWN_REASON)


class RestoreForm(Form):
    """Write over the copy what the scheduler last used."""

    key = "restore"
    version = forms.CharField(required=False, max_length=limits.COPY_VERSION, widget=forms.HiddenInput)
    reason = ReasonField(label=_WHY, max_length=limits.SHOWN_REASON)


class PlaceForm(Form):
    """Say in which namespace the ConfigMap is."""

    key = "set-namespace"
    namespace = forms.CharField(
        label=gettext_lazy("Namespace of the ConfigMap (empty: the namespace of YuniKorn’s pods)"),
        required=False,
        max_length=limits.NAMESPACE,
        widget=forms.TextInput(attrs=CODE),
    )
    reason = ReasonField(label=_WHY, max_length=limits.SHOWN_REASON)
