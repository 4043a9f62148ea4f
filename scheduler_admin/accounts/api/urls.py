"""The addresses of accounts in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.accounts.api import accounts, site_settings, tokens

urlpatterns: list[URLPattern] = [
    path("audit", accounts.AuditView.as_view(), name="audit"),
    path("tenants", accounts.TenantsView.as_view(), name="tenants"),
    path("tokens", tokens.TokensView.as_view(), name="tokens"),
    path("tokens/<int:pk>", tokens.TokenView.as_view(), name="token"),
    path("users", accounts.UsersView.as_view(), name="users"),
    path("site", site_settings.SiteView.as_view(), name="site"),
    path("group-mappings", site_settings.MappingsView.as_view(), name="mappings"),
    path("group-mappings/<int:pk>", site_settings.MappingView.as_view(), name="mapping"),
]
