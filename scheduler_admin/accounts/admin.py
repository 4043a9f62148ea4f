"""People and tenants in Django's admin site, for repairs; the site is off unless ADMIN_SITE is set."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.models import AuditEvent, Membership, Tenant, User


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """A person's tenants."""

    model = Membership
    extra = 0


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """Django's own, with role and tenants."""

    list_display = ("username", "email", "role", "service", "is_active")
    fieldsets = (*(UserAdmin.fieldsets or ()), (_("Access"), {"fields": ("role",)}))
    inlines = [MembershipInline]


@admin.register(Tenant)
class TenantAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """Namespaces and subtrees."""

    list_display = ("name", "namespaces", "subtrees")


@admin.register(AuditEvent)
class AuditEventAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """To be read: what was done is never changed."""

    list_display = ("at", "actor_name", "verb", "target", "reason")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody writes history by hand."""
        del request
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes it."""
        del request, obj
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes it."""
        del request, obj
        return False
