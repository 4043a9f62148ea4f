"""The sign-in page, and signing out."""

from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.introduction import open_at_first_sign_in
from scheduler_admin.accounts.sign_in.lockout import SignInForm


class SignIn(LoginView):
    """The sign-in page; who is signed in already goes home."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With the provider at which one may sign in as well, and where one signs out there after signing out here."""
        left = settings.OIDC_END_SESSION_ENDPOINT if "left" in self.request.GET else ""
        back = self.request.build_absolute_uri(reverse("web:login"))
        words = urlencode({"client_id": settings.OIDC_RP_CLIENT_ID, "post_logout_redirect_uri": back})
        provider = {"provider": settings.OIDC_NAME, "leave_provider": f"{left}?{words}" if left else ""}
        return super().get_context_data(**kwargs) | provider

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in. Who was never here before sees the introduction."""
        user = form.get_user()
        assert isinstance(user, User)
        open_at_first_sign_in(user)
        return super().form_valid(form)


class SignOut(LogoutView):
    """Signs out; who came from a provider is told that they are signed in there still."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """To the sign-in page."""
        outside = request.session.get(BACKEND_SESSION_KEY, "").endswith(".oidc.Backend")
        response = super().post(request, *args, **kwargs)
        return redirect(f"{reverse('web:login')}?left=1") if outside else response
