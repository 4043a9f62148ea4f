"""The addresses of accounts in the REST API."""

from django.urls import URLPattern, URLResolver, path

from scheduler_admin.accounts.api import audit, group_mappings, site, tenants, tokens, users, workload_identities
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("audit", audit.AuditViewSet, basename="audit")
ROWS.register("group-mappings", group_mappings.GroupMappingViewSet, basename="group-mapping")
ROWS.register("tenants", tenants.TenantViewSet, basename="tenant")
ROWS.register("tokens", tokens.TokenViewSet, basename="token")
ROWS.register("users", users.UserViewSet, basename="user")
ROWS.register("workload-identities", workload_identities.WorkloadIdentityViewSet, basename="workload-identity")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path("site-settings", site.SiteSettingsView.as_view(), name="site_settings"),
]
