"""The way to an OpenID provider and back."""

import logging
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from scheduler_admin.accounts.oidc import SignInError
from scheduler_admin.accounts.services.introduction import open_at_first_sign_in

SESSION_S = 8 * 3600
"""So long after the provider was asked last a session ends, also where only a page's script goes on asking."""
_log = logging.getLogger(__name__)


class Begin(OIDCAuthenticationRequestView):  # type: ignore[misc]  # the library has no types
    """To the provider."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """404 where there is none."""
        if not settings.OIDC_ISSUER:
            raise Http404
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


class Back(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # the library has no types
    """From the provider: signed in, or at the sign-in page with why not."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """404 where there is none."""
        if not settings.OIDC_ISSUER:
            raise Http404
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response

    @sensitive_variables()
    def get(self, request: HttpRequest) -> HttpResponse:
        """What went wrong is said; which token or code it was is not, not even in the log."""
        if request.GET.get("state", "") not in request.session.get("oidc_states", {}):
            return self._refused(_("This sign-in did not start here, or it has expired. Try again."))
        try:
            response: HttpResponse = super().get(request)
        except SignInError as error:
            _log.warning(
                "Sign-in with the OpenID provider %s failed: %s", settings.OIDC_ISSUER, type(error.__cause__).__name__
            )
            logout(request)  # whose session was to be renewed
            return self._refused(_(error.sentence))
        return response

    def login_success(self) -> HttpResponse:
        """Signed in for some hours. Who was never here before sees the introduction."""
        open_at_first_sign_in(self.user)
        response: HttpResponse = super().login_success()
        self.request.session.set_expiry(SESSION_S)
        return response

    def login_failure(self) -> HttpResponse:
        """To the sign-in page."""
        return self._refused(_("The identity provider did not sign you in."))

    def _refused(self, sentence: str) -> HttpResponse:
        messages.error(self.request, sentence)
        return redirect("web:login")
