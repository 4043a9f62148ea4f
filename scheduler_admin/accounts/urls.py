"""The addresses of the pages of accounts."""

from django.urls import URLPattern, path

from scheduler_admin.accounts.pages import account, oidc, sign_in, site_settings
from scheduler_admin.accounts.pages.people import (
    audit_log,
    group_mappings,
    roles,
    tenants,
    tokens,
    users,
    workload_identities,
)
from scheduler_admin.accounts.pages.tokens import RevokeToken

urlpatterns: list[URLPattern] = [
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-out/", sign_in.SignOut.as_view(), name="logout"),
    path("sign-in/elsewhere/", oidc.Begin.as_view(), name="oidc"),
    path("sign-in/elsewhere/back/", oidc.Back.as_view(), name="oidc_callback"),
    path("account/", account.Account.as_view(), name="account"),
    path("account/password/", account.OwnPassword.as_view(), name="password"),
    path("account/tokens/add/", account.NewOwnToken.as_view(), name="token_add"),
    path("tokens/<int:pk>/revoke/", RevokeToken.as_view(), name="token_revoke"),
    path("site/", site_settings.site, name="site"),
    path("people/audit-log/", audit_log.AuditLog.as_view(), name="audit_log"),
    path("people/audit-log/events.csv", audit_log.AsCsv.as_view(), name="audit_log_csv"),
    path("people/audit-log/events.json", audit_log.AsJson.as_view(), name="audit_log_json"),
    path("people/group-mappings/", group_mappings.GroupMappings.as_view(), name="group_mappings"),
    path("people/group-mappings/add/", group_mappings.NewMapping.as_view(), name="group_mapping_add"),
    path("people/group-mappings/<int:pk>/", group_mappings.MappingPage.as_view(), name="group_mapping"),
    path("people/group-mappings/<int:pk>/delete/", group_mappings.DeleteMapping.as_view(), name="group_mapping_delete"),
    path("people/roles/", roles.Roles.as_view(), name="roles"),
    path("people/tenants/", tenants.Tenants.as_view(), name="tenants"),
    path("people/tenants/add/", tenants.NewTenant.as_view(), name="tenant_add"),
    path("people/tenants/<int:pk>/", tenants.TenantPage.as_view(), name="tenant"),
    path("people/tenants/<int:pk>/members/add/", tenants.NewMember.as_view(), name="member_add"),
    path("people/tenants/<int:pk>/delete/", tenants.DeleteTenant.as_view(), name="tenant_delete"),
    path("people/tokens/", tokens.Tokens.as_view(), name="tokens"),
    path("people/users/", users.Users.as_view(), name="users"),
    path("people/users/add/", users.NewUser.as_view(), name="user_add"),
    path("people/users/<int:pk>/", users.UserPage.as_view(), name="user"),
    path("people/users/<int:pk>/password/", users.UserPassword.as_view(), name="user_password"),
    path("people/service-accounts/<int:pk>/tokens/add/", users.ServiceToken.as_view(), name="service_token_add"),
    path("people/workload-identities/", workload_identities.WorkloadIdentities.as_view(), name="workload_identities"),
    path(
        "people/workload-identities/add/",
        workload_identities.NewWorkloadIdentity.as_view(),
        name="workload_identity_add",
    ),
    path(
        "people/workload-identities/<int:pk>/",
        workload_identities.WorkloadIdentityPage.as_view(),
        name="workload_identity",
    ),
    path(
        "people/workload-identities/<int:pk>/delete/",
        workload_identities.DeleteWorkloadIdentity.as_view(),
        name="workload_identity_delete",
    ),
    path("people/users/<int:pk>/delete/", users.DeleteUser.as_view(), name="user_delete"),
]
