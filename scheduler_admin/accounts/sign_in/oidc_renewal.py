"""Sessions of people who signed in at an OpenID provider: now and then the provider is asked again, unseen."""

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from mozilla_django_oidc.middleware import SessionRefresh


class Renewal(SessionRefresh):  # type: ignore[misc]  # the library has no types
    """Sends who opens a page to the provider and back once their time is over: who left there has left here."""

    def is_refreshable_url(self, request: HttpRequest) -> bool:
        """Pages that a person opens; what a page's script asks for can't follow to another site."""
        opened = request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate" and "HX-Request" not in request.headers
        if not settings.OIDC_ISSUER or not opened or request.path.startswith("/api/"):
            return False
        return bool(super().is_refreshable_url(request))

    @property
    def exempt_urls(self) -> set[str]:
        """The way to the provider and back itself."""
        return {reverse("web:oidc"), reverse("web:oidc_callback")}
