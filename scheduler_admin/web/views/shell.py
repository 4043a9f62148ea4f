"""Signing in, and where a person lands."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters import selectors


class SignIn(LoginView):
    """The sign-in page; who is signed in already goes home."""

    template_name = "web/login.html"
    redirect_authenticated_user = True


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """To the clusters, the only cluster's queues, or a tenant's own pods."""
    if not scope_of(request.user, "view").everything:
        return redirect("web:pods")
    names = selectors.names(request.user)
    if len(names) == 1:
        return redirect("web:queues", names[0])
    return redirect("web:clusters")
