"""Everybody's own page: who they are here, their API tokens, and their password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import authenticate, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.generic import TemplateView

from scheduler_admin.accounts.forms.account import OwnPasswordForm
from scheduler_admin.accounts.forms.tokens import NewTokenForm
from scheduler_admin.accounts.pages.base import ServiceForm, SignedIn
from scheduler_admin.accounts.pages.tokens import curl_line
from scheduler_admin.accounts.scopes import memberships
from scheduler_admin.accounts.services.own_tokens import make_own, tokens_tag
from scheduler_admin.accounts.services.passwords import change_own_password, has_password
from scheduler_admin.accounts.sign_in.lockout import sentence


class Account(SignedIn, TemplateView):
    """Who somebody is here, and their tokens."""

    template_name = "accounts/account.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the user's own tokens, the newest first, and whether they have a password here."""
        return super().get_context_data(
            **kwargs,
            memberships=memberships(self.actor),
            tokens=self.actor.api_tokens.order_by("-pk"),
            has_password=has_password(self.actor),
        )


class NewOwnToken(ServiceForm):
    """A form that creates a token for oneself."""

    template_name = "accounts/token_add.html"
    form_class = NewTokenForm

    def seen(self) -> str:
        """Return what tells whether the user got a token meanwhile."""
        return tokens_tag(self.actor)

    def get_form_kwargs(self) -> dict[str, Any]:
        """Return whose token it is, too."""
        return {**super().get_form_kwargs(), "owner": self.actor}

    @sensitive_variables()
    def act(self, form: Any) -> HttpResponse:
        """Create the token, which is shown in this one answer alone."""
        made, plaintext = make_own(user=self.actor, **form.token)
        context = {"token": made, "fresh": plaintext, "example": curl_line(self.request, plaintext)}
        return self.show_once("accounts/token_fresh.html", context)


@method_decorator(sensitive_post_parameters(), name="dispatch")
class OwnPassword(ServiceForm):
    """A form by which people change their own password."""

    template_name = "accounts/password.html"
    form_class = OwnPasswordForm

    def admit(self) -> None:
        """Raise Http404 for those who have no password here."""
        if not has_password(self.actor):
            raise Http404

    @sensitive_variables()
    def act(self, form: Any) -> HttpResponse:
        """Change the password. This session goes on, all others of the user end.

        Wrong present passwords count as at the sign-in page: a session that was left open is no way to guess them.
        """
        given, name = form.cleaned_data, self.actor.get_username()
        if authenticate(self.request, username=name, password=given["current"]) is None:
            locked = getattr(self.request, "axes_locked_out", False)
            raise ValidationError({"current": sentence() if locked else _("This is not your current password.")})
        changed = change_own_password(user=self.actor, password=given["password"])
        update_session_auth_hash(self.request, changed)
        messages.success(self.request, _("Your password was changed. You are signed out everywhere else."))
        return redirect("web:account")
