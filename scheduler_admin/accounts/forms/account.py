"""The form by which people change their own password."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form


def _password(label: Any, autocomplete: str, **settings: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, max_length=limits.PASSWORD, widget=widget, **settings)


class OwnPasswordForm(Form):
    """Change one's own password."""

    current = _password(gettext_lazy("Current password"), "current-password")
    password = _password(
        gettext_lazy("New password"),
        "new-password",
        help_text=gettext_lazy("At least 8 characters, and not a common password."),
    )
    again = _password(gettext_lazy("New password (again)"), "new-password")

    def clean(self) -> dict[str, Any]:
        """Check that both entries of the new password are the same."""
        given = super().clean() or self.cleaned_data
        if "password" in given and "again" in given and given["password"] != given["again"]:
            self.add_error("again", _("The passwords do not match."))
        return given
