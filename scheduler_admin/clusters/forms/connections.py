"""Forms in which an admin says how a cluster is reached: connecting one, and other credentials for one."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.kubeconfig import LONGEST
from engine.cluster.errors import SettingsError
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.sealing import unseal
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, SECRET, Form, ReasonField, UnseenTextarea

SEALED_S = 3600
"""So long a form with something sealed in it can be sent."""


class PastedForm(Form):
    """Credentials that are pasted: a kubeconfig, or an address with a token. Neither is shown again."""

    text = forms.CharField(
        label=gettext_lazy("Kubeconfig (paste its text)"),
        required=False,
        strip=False,
        max_length=LONGEST,
        widget=UnseenTextarea(attrs={**SECRET, "rows": 6}),
        help_text=gettext_lazy(
            "Paste the output of <code>kubectl config view --flatten --minify --raw</code>. It must not "
            "refer to programs or files."
        ),
        error_messages={"max_length": gettext_lazy("The text is too long for a kubeconfig.")},
    )
    address = forms.CharField(
        label=gettext_lazy("API server address"),
        required=False,
        max_length=limits.ADDRESS,
        widget=forms.URLInput(attrs={**CODE, "placeholder": "https://"}),
    )
    token = forms.CharField(
        label=gettext_lazy("Token"),
        required=False,
        max_length=limits.TOKEN,
        widget=forms.PasswordInput(attrs=SECRET),
    )
    ca = forms.CharField(
        label=gettext_lazy("CA certificate, PEM (empty: the system’s certificates)"),
        required=False,
        max_length=limits.CERTIFICATES,
        widget=forms.Textarea(attrs={**CODE, "rows": 3}),
    )
    context = forms.CharField(
        label=gettext_lazy("Kubeconfig context (empty: the current context)"),
        required=False,
        max_length=limits.CONTEXT,
        widget=forms.TextInput(attrs=CODE),
    )

    @sensitive_variables()
    def pasted(self) -> Way | None:
        """Return what was pasted; None where nothing was. Raises SettingsError."""
        given = self.cleaned_data
        if given["text"].strip():
            return Way(text=given["text"], context=given["context"])
        if given["address"] or given["token"]:
            if not given["token"]:
                raise SettingsError(gettext_noop("Enter a token for this address."))
            return Way.by_token(given["address"], given["token"], given["ca"])
        return None


class ConnectForm(PastedForm):
    """Connect a cluster: by what is pasted, or by a file that the installation offers.

    What was pasted comes back sealed from the next form.
    """

    sealed = forms.CharField(required=False, max_length=2 * LONGEST, widget=forms.HiddenInput)
    kubeconfig = forms.CharField(
        label=gettext_lazy("Kubeconfig file on the server"),
        required=False,
        max_length=limits.ADDRESS,
        widget=forms.Select,
        help_text=gettext_lazy(
            "The engine’s worker reads this file, too. The keys and sign-in programs that the file refers "
            "to must be available to the worker."
        ),
    )
    context = forms.CharField(
        label=gettext_lazy("Context"), required=False, max_length=limits.CONTEXT, widget=forms.Select
    )
    name = forms.CharField(
        label=gettext_lazy("Cluster name (optional)"),
        required=False,
        max_length=limits.CLUSTER_NAME,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy("Letters, digits and hyphens. Empty: derived from the context name."),
    )

    @sensitive_variables()
    def way(self) -> Way:
        """Return how the cluster is reached. Raises SettingsError."""
        given = self.cleaned_data
        if given["sealed"]:
            return Way(text=unseal(given["sealed"], within_s=SEALED_S), context=given["context"])
        return self.pasted() or Way.by_choice(given["kubeconfig"], given["context"])

    def offer_files(self, files: Iterable[str]) -> None:
        """Let people choose among the files that the installation offers."""
        self.offer("kubeconfig", [(file, file) for file in files])

    def offer_contexts(self, names: Iterable[str]) -> None:
        """Let people choose among the contexts of a kubeconfig."""
        self.offer("context", [(name, name) for name in names])


class CredentialsForm(PastedForm):
    """Replace the credentials of a cluster."""

    key = "replace"
    reason = ReasonField(label=gettext_lazy("Reason (kept in the audit log)"))


class ForgetForm(Form):
    """Forget the credentials of a cluster."""

    key = "forget"
    reason = ReasonField(label=gettext_lazy("Reason (kept in the audit log)"))


class CheckForm(Form):
    """Check whether a cluster can be used in a mode."""

    mode = forms.ChoiceField(label=gettext_lazy("Mode to check"), required=False, choices=Cluster.Mode.choices)
