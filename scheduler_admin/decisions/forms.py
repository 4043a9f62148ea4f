"""Forms of saved filters of a cluster's history."""

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form


class RenameFilterForm(Form):
    """Call saved filters something else."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=limits.FILTER_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Enter a name.")},
    )


class SaveFilterForm(RenameFilterForm):
    """Keep the filters of a page, whose query string is sent."""

    address = forms.CharField(required=False, max_length=limits.FILTER_ADDRESS, widget=forms.HiddenInput)
