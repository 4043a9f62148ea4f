"""What somebody is told whose name, from their address, takes no password for now."""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.core.exceptions import ValidationError
from django.forms import TextInput
from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext

from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form


def sentence() -> str:
    """The same for names that are nobody's: it tells of no account."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    return ngettext(
        "Too many wrong passwords for this username from your address. Try again in %(minutes)s minute. "
        "The site’s administrator can unlock it earlier.",
        "Too many wrong passwords for this username from your address. Try again in %(minutes)s minutes. "
        "The site’s administrator can unlock it earlier.",
        minutes,
    ) % {"minutes": minutes}


class SignInForm(Form, AuthenticationForm):
    """Django's own, which says so where no password is looked at any more."""

    key = "sign-in"
    # Django's has no limit, and django-axes stores the names of failed attempts.
    username = UsernameField(max_length=limits.USER_NAME, widget=TextInput(attrs={**CODE, "autofocus": True}))

    def get_invalid_login_error(self) -> ValidationError:
        """What was wrong; it is read with both fields, since either may be."""
        for field in self.fields.values():
            field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": self.error_id}
        if getattr(self.request, "axes_locked_out", False):
            return ValidationError(sentence(), code="locked_out")
        return super().get_invalid_login_error()


def answer(_request: HttpRequest, original: HttpResponse | None, _credentials: Any) -> HttpResponse:
    """The page with the form and its sentence, or, where there is none, the sentence; as Too Many Requests."""
    plain = HttpResponse(sentence(), content_type="text/plain; charset=utf-8")
    response = plain if original is None else original
    response.status_code = HTTPStatus.TOO_MANY_REQUESTS
    response["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    return response
