"""Forms of the page of saved snapshots."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, MomentField
from scheduler_admin.journal.services.snapshots import MOST_BYTES

_OFF = {"autocomplete": "off"}


class SaveForm(Form):
    """Save the cluster as it was at a time."""

    key = "save"
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=limits.SNAPSHOT_NAME, widget=forms.TextInput(attrs=_OFF)
    )
    at = MomentField(label=gettext_lazy("Time (leave empty for the latest state)"))


class UploadForm(Form):
    """Keep a snapshot that comes as a file."""

    key = "upload"
    name = forms.CharField(
        label=gettext_lazy("Name (leave empty to use the file name)"),
        required=False,
        max_length=limits.SNAPSHOT_NAME,
        widget=forms.TextInput(attrs=_OFF),
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".zip,.json"}),
        error_messages={"required": gettext_lazy("Choose a file."), "invalid": gettext_lazy("Choose a file.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "A snapshot downloaded from Scheduler Admin, or the output of <code>kubectl get "
            "nodes,pods,namespaces,priorityclasses,pdb,pv,pvc -A -o json</code>. The maximum size is "
            "%(most)s MB."
        ) % {"most": MOST_BYTES // 1_000_000}
