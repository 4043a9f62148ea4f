"""Forms of the pages of tokens: a new one."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy, ngettext_lazy

from scheduler_admin.accounts.forms.users import SeenForm
from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.own_tokens import useful_scopes
from scheduler_admin.accounts.services.tokens import DEFAULT_LIFETIME
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE
from scheduler_admin.core.words import colon

_NEVER = "never"
_LIFETIMES = [
    *((str(days), ngettext_lazy("%(n)s day", "%(n)s days", days) % {"n": days}) for days in (7, 30, 90, 180, 365)),
    (_NEVER, gettext_lazy("no expiry: valid until it is revoked")),
]


class NewTokenForm(SeenForm):
    """Create a token. It offers the scopes by which its owner can do anything."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=limits.TOKEN_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("What the token is for, such as the name of a pipeline."),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Each scope includes reading. A token can do at most what its owner can do."),
        error_messages={"required": gettext_lazy("Choose at least one scope.")},
    )
    subtree = forms.CharField(
        label=gettext_lazy("Limit to a queue (optional)"),
        required=False,
        max_length=limits.QUEUE_PATH,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy("A queue path such as <code>root.team-a</code>. The queues below it are included."),
    )
    days = forms.ChoiceField(label=gettext_lazy("Expires after"), choices=_LIFETIMES)
    renamed = {"expires_at": "days"}

    def __init__(self, *args: Any, owner: User, initial: dict[str, Any], **kwargs: Any) -> None:
        first = {"scopes": [ApiToken.Scope.READ], "days": str(DEFAULT_LIFETIME.days)}
        super().__init__(*args, initial=first | initial, **kwargs)
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = scope_choices(useful_scopes(owner))

    @property
    def token(self) -> dict[str, Any]:
        """Return what the service takes."""
        given = {name: self.cleaned_data[name] for name in ("name", "scopes", "subtree", "seen")}
        days = self.cleaned_data["days"]
        return given | {"lifetime": None if days == _NEVER else timedelta(days=int(days))}


def scope_choices(scopes: Iterable[ApiToken.Scope]) -> list[tuple[str, str]]:
    """Return scopes to choose from."""
    return [(scope.value, _words(scope)) for scope in scopes]


def _words(scope: ApiToken.Scope) -> str:
    """Return a scope with what it allows, where its name does not say it."""
    return colon().join(dict.fromkeys([scope.value, str(scope.label)]))
