"""People, tenants, tokens, and what was done by whom."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person or a machine that signs in. Without a role it sees what its tenants see."""

    class Role(models.TextChoices):
        ADMIN = "admin", _("Admin")
        OPERATOR = "operator", _("Operator")
        AUDITOR = "auditor", _("Auditor")
        TENANT = "tenant", _("Tenant")

    role = models.CharField(max_length=16, choices=Role, default=Role.TENANT)
    tenants: "models.ManyToManyField[Tenant, models.Model]" = models.ManyToManyField(
        "Tenant", related_name="members", blank=True
    )


class Tenant(models.Model):
    """Namespaces and subtrees of queues that belong together."""

    name = models.CharField(max_length=100, unique=True)
    namespaces = models.JSONField(default=list, blank=True)
    subtrees = models.JSONField(default=list, blank=True, help_text=_("Paths of queues; what lies below belongs too."))

    def __str__(self) -> str:
        return self.name


class ApiToken(models.Model):
    """A token for the REST API. Only its digest is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class AuditEvent(models.Model):
    """Who changed what, when and why. Written once, never changed."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=50)
    target = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.target}"
