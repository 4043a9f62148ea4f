"""Where a page leads after a form was sent."""

from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def go_back(request: HttpRequest, otherwise: str, *args: object) -> HttpResponseRedirect:
    """Redirect to the page that the form was sent from (its field ``next``), where that is one of this site."""
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(resolve_url(otherwise, *args))
