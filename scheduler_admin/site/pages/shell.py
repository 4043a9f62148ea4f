"""Where a person lands, what the product is, and the routes of the REST API as a page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services import introduction
from scheduler_admin.clusters import selectors
from scheduler_admin.core.forms import go_back
from scheduler_admin.site import finding, tour
from scheduler_admin.site.finding import MOST_TEXT
from scheduler_admin.site.glossary import GLOSSARY


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


@require_safe
@login_required
def find(request: HttpRequest) -> HttpResponse:
    """Find things by a part of their name: a page of its own, or the list alone for the palette."""
    text = request.GET.get("q", "").strip()[:MOST_TEXT]
    context = {"found": finding.find(request.user, text), "text": text, "most": MOST_TEXT}
    template = "site/_found.html" if request.headers.get("HX-Request") == "true" else "site/find.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
@login_required
def api_docs(request: HttpRequest) -> HttpResponse:
    """The routes of the REST API, to read and to try."""
    return render(request, "site/api_docs.html")


@require_safe
@login_required
def glossary(request: HttpRequest) -> HttpResponse:
    """Show the terms that pages use, in the reader's language."""
    return render(request, "site/glossary.html", {"glossary": GLOSSARY})


@require_safe
@login_required
def about(request: HttpRequest) -> HttpResponse:
    """Show what the product is, for those who closed the introduction."""
    return render(request, "site/about.html", {"tour_begins": tour.beginning(request.user)})


@require_POST
@login_required
def close_introduction(request: HttpRequest) -> HttpResponse:
    """Close the introduction for this user, and go on to the tour or back to the page."""
    assert isinstance(request.user, User)  # signed in
    introduction.close_introduction(user=request.user)
    if "tour" in request.POST:  # by hand: which of two buttons was pressed
        return redirect(tour.beginning(request.user))
    return go_back(request, "web:home")
