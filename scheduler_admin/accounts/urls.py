"""The addresses of the pages of accounts."""

from django.urls import URLPattern, path

from scheduler_admin.accounts.pages import oidc, sign_in, site_settings

urlpatterns: list[URLPattern] = [
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-out/", sign_in.SignOut.as_view(), name="logout"),
    path("sign-in/elsewhere/", oidc.Begin.as_view(), name="oidc"),
    path("sign-in/elsewhere/back/", oidc.Back.as_view(), name="oidc_callback"),
    path("site/", site_settings.site, name="site"),
]
