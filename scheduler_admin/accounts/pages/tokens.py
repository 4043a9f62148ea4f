"""What all pages of API tokens share: how a new one is used, and that whoever may know of one may revoke it."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.forms.users import DeleteForm
from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.pages.base import RowForm
from scheduler_admin.accounts.services.own_tokens import tokens_of
from scheduler_admin.accounts.services.tokens import revoke_token


@sensitive_variables()
def curl_line(request: HttpRequest, plaintext: str) -> str:
    """Return a command that lists the clusters with a token, to be run as it is."""
    address = request.build_absolute_uri(reverse("api:cluster-list"))
    return f"curl -H 'Authorization: Bearer {plaintext}' {address}"


class RevokeToken(RowForm[ApiToken]):
    """A token, before it is revoked: one's own, and for admins anybody's."""

    template_name = "accounts/token_revoke.html"
    form_class = DeleteForm

    def rows(self) -> QuerySet[ApiToken]:
        """Return the tokens that the user may know of."""
        return tokens_of(self.actor)

    def act(self, form: Any) -> HttpResponse:
        """Revoke the token, and lead back to where its owner, or an admin, finds the others."""
        own, name = self.row.user == self.actor, self.row.name
        revoke_token(token=self.row, actor=self.actor, reason=form.cleaned_data["reason"])
        messages.success(self.request, _("Token %(name)s was revoked. Requests with it now fail.") % {"name": name})
        return redirect("web:account") if own else redirect("web:user", self.row.user_id)
