"""Forms of the pages of workload identities: an admin says which pipelines may sign in, and as what."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.forms.tokens import scope_choices
from scheduler_admin.accounts.forms.users import SeenForm
from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


class ClaimsField(forms.CharField):
    """Claims, one per line: a name, an equals sign, and a value."""

    widget = forms.Textarea(attrs={**CODE, "rows": 4})

    def clean(self, value: Any) -> dict[str, str]:
        """Return the claims. Raises ValidationError for a line that is none, or a name that is there twice."""
        found: dict[str, str] = {}
        for line in filter(None, (line.strip() for line in super().clean(value).splitlines())):
            name, equals, wanted = (part.strip() for part in line.partition("="))
            if not equals:
                raise ValidationError(_("Write each claim as name = value."))
            if name in found:
                raise ValidationError(_("The claim %(name)s is there twice."), params={"name": name})
            found[name] = wanted
        return found


def claims_text(claims: Mapping[str, str]) -> str:
    """Return claims as the field has them."""
    return "\n".join(f"{name} = {wanted}" for name, wanted in claims.items())


class WorkloadIdentityForm(Form):
    """Let pipelines sign in as a service account."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=limits.TOKEN_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("What the pipelines do, such as publishing the queue tree."),
    )
    service_account = forms.CharField(
        label=gettext_lazy("Service account"),
        max_length=limits.USER_NAME,
        widget=forms.Select,
        help_text=gettext_lazy("The pipelines act as this account: its role and tenants are theirs."),
    )
    issuer = forms.CharField(
        label=gettext_lazy("Issuer"),
        max_length=limits.ISSUER,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy(
            "<code>https://token.actions.githubusercontent.com</code> for GitHub, or the address of your GitLab."
        ),
    )
    audience = forms.CharField(
        label=gettext_lazy("Audience"),
        max_length=limits.ISSUER,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy("Whom the tokens are for. The command line uses the address of the site."),
    )
    claims = ClaimsField(
        label=gettext_lazy("Claims"),
        max_length=limits.NAMES,
        help_text=gettext_lazy(
            "What a token must say, one claim per line, such as "
            "<code>sub = repo:example/queues:ref:refs/heads/main</code>. <code>*</code> matches any characters."
        ),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        widget=forms.CheckboxSelectMultiple,
        choices=lambda: scope_choices(ApiToken.Scope),
        help_text=gettext_lazy("Each scope includes reading. The pipelines can do at most what the account can do."),
        error_messages={"required": gettext_lazy("Choose at least one scope.")},
    )
    subtree = forms.CharField(
        label=gettext_lazy("Limit to a queue (optional)"),
        required=False,
        max_length=limits.QUEUE_PATH,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy("A queue path such as <code>root.team-a</code>. The queues below it are included."),
    )
    reason = ReasonField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = User.objects.filter(service=True).order_by("username").values_list("username", flat=True)
        self.offer("service_account", [("", "–"), *((name, name) for name in names)])

    @property
    def values(self) -> dict[str, Any]:
        """Return what the service takes. Raises ValidationError for an account that is gone."""
        given = {
            name: self.cleaned_data[name] for name in ("name", "issuer", "audience", "claims", "scopes", "subtree")
        }
        account = User.objects.filter(username=self.cleaned_data["service_account"], service=True).first()
        if account is None:
            raise ValidationError({"service_account": _("Choose a service account.")})
        return {**given, "user": account}


class ChangeWorkloadIdentityForm(WorkloadIdentityForm, SeenForm):
    """Change a workload identity from what the person saw."""
