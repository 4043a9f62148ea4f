"""People, tenants, tokens, and what was done by whom."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engine.model.queue_paths import Renames
from scheduler_admin.accounts.link_templates import check_node_links, check_pod_links, check_support_links
from scheduler_admin.accounts.workloads.claims import check_claims
from scheduler_admin.core import limits


class User(AbstractUser):
    """A person or a machine that signs in. Without a role it sees what its tenants see."""

    class Role(models.TextChoices):
        ADMIN = "admin", _("Admin")
        OPERATOR = "operator", _("Operator")
        AUDITOR = "auditor", _("Auditor")
        TENANT = "tenant", _("Tenant")

    class Origin(models.TextChoices):
        """How somebody signs in, and so who says what they are here."""

        LOCAL = "local", _("Local")
        PROVIDER = "provider", _("Single sign-on")
        KUBERNETES = "kubernetes", _("Kubernetes token")
        SERVICE = "service", _("Service account")

    role = models.CharField(max_length=16, choices=Role, default=Role.TENANT)
    tenants: "models.ManyToManyField[Tenant, Membership]" = models.ManyToManyField(
        "Tenant", through="Membership", related_name="members", blank=True
    )
    identity = models.CharField(max_length=500, null=True, blank=True, unique=True, editable=False)
    """Who it is at the door that they came in by: another issuer's or cluster's name for them. None: a local user."""
    outside_groups = models.JSONField(default=list, blank=True, editable=False)
    """What that door last said they belong to: role and tenants follow from it by GroupMapping."""
    token: "ApiToken | WorkloadToken | None" = None
    """The token that this request signed in with: it limits what the user may do. None: signed in otherwise."""
    renames: Renames | None = None
    """What queues were called before, once this request has read it."""
    service = models.BooleanField(default=False, editable=False)
    """Whether it is a machine's account: it has tokens, and no other way in."""
    introduction_open = models.BooleanField(default=False, editable=False)
    """Whether first pages show the introduction: from the first sign-in on, until the user closes it."""

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(service=False) | models.Q(identity=None), name="services_have_tokens_alone"
            )
        ]

    @property
    def site_role(self) -> str:
        """The role on the whole site: that of a superuser is admin, whatever its row says."""
        return self.Role.ADMIN if self.is_superuser else self.role

    @property
    def site_role_label(self) -> str:
        """The name of that role in the active language."""
        return str(self.Role(self.site_role).label)

    @property
    def origin(self) -> Origin:
        """How the user signs in."""
        if self.identity is None:
            return self.Origin.SERVICE if self.service else self.Origin.LOCAL
        return self.Origin.KUBERNETES if self.identity.startswith("kubernetes ") else self.Origin.PROVIDER


class Tenant(models.Model):
    """Namespaces and subtrees of queues that belong together."""

    name = models.CharField(max_length=limits.TENANT_NAME, unique=True)
    namespaces = models.JSONField(default=list, blank=True)
    subtrees = models.JSONField(
        default=list, blank=True, help_text=_("Queue paths. The queues below them are included.")
    )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person of a tenant: they see what is the tenant's, and an editor changes the trees below its subtrees too."""

    class Role(models.TextChoices):
        TENANT = "tenant", _("Tenant")
        EDITOR = "editor", pgettext_lazy("role", "Editor")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role, default=Role.TENANT)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "tenant"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} {self.get_role_display()} {self.tenant}"


class GroupMapping(models.Model):
    """What a group of another door is here: a role on the whole site, or a role at a tenant."""

    ROLES = [*(choice for choice in User.Role.choices if choice[0] != User.Role.TENANT), *Membership.Role.choices]

    group = models.CharField(
        max_length=limits.GROUP, help_text=_("The name that the sign-in method reports. See docs/operations/people.md.")
    )
    role = models.CharField(max_length=16, choices=ROLES)
    tenant = models.ForeignKey(Tenant, null=True, blank=True, on_delete=models.CASCADE, related_name="mappings")

    class Meta:
        ordering = ["group", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["group", "role", "tenant"], name="one_mapping"),
            models.UniqueConstraint(fields=["group", "role"], condition=models.Q(tenant=None), name="one_site_mapping"),
        ]

    def __str__(self) -> str:
        place = f" {self.tenant}" if self.tenant else ""
        return f"{self.group}: {self.role}{place}"

    def clean(self) -> None:
        """A role at a tenant says at which, one on the whole site says none."""
        if (self.role in Membership.Role.values) != (self.tenant is not None):
            at = (
                _("Specify the tenant for this role.")
                if self.tenant is None
                else _("Leave the tenant empty: this role applies to the whole site.")
            )
            raise ValidationError({"tenant": at})


class Site(models.Model):
    """What holds for the whole site: one row, or none as long as everything is as it begins."""

    class Preemptor(models.TextChoices):
        """What a victim's side learns of the ask for which it went; each says what those before it say, too."""

        NONE = "none", pgettext_lazy("of a preemptor", "None")
        QUEUE = "queue", _("Queue")
        UID = "uid", _("Queue and pod UID")
        NAME = "name", _("Queue, pod UID, and pod name")

    preemptor = models.CharField(max_length=10, choices=Preemptor, default=Preemptor.QUEUE)
    second_for_editors = models.BooleanField(
        default=False, help_text=_("Require another person’s approval before editors of a subtree can publish.")
    )
    second_for_admins = models.BooleanField(
        default=False, help_text=_("Require another person’s approval before admins can publish.")
    )

    support_contact = models.CharField(
        max_length=limits.SUPPORT_CONTACT,
        blank=True,
        help_text=_("Whom tenants can ask why a pod was preempted or is pending. Shown on the page of each pod."),
    )
    support_links = models.JSONField(
        default=list,
        blank=True,
        validators=[check_support_links],
        help_text=_("Links on the page of each pod, each with a label and an address that can name the pod."),
    )
    pod_links = models.JSONField(
        default=list,
        blank=True,
        validators=[check_pod_links],
        help_text=_("Links to other tools wherever a pod is shown, each with a label and an address that can name it."),
    )
    node_links = models.JSONField(
        default=list,
        blank=True,
        validators=[check_node_links],
        help_text=_(
            "Links to other tools on the page of each node, each with a label and an address that can name it."
        ),
    )

    def __str__(self) -> str:
        return "site"


def check_scopes(value: Any) -> None:
    """Raise ValidationError for a list that holds anything but scopes."""
    for scope in value:
        if scope not in ApiToken.Scope.values:
            known = ", ".join(ApiToken.Scope.values)
            raise ValidationError(
                _("Unknown scope %(scope)s. Valid scopes: %(known)s."), params={"scope": scope, "known": known}
            )


class ApiToken(models.Model):
    """A token for the REST API, which may do at most what its user may. Only its digest is stored."""

    class Scope(models.TextChoices):
        """What a token is good for; each includes reading, and the last one of trees the one before it."""

        READ = "read", _("read")
        PLAN = "tree:plan", _("plan changes to queue trees")
        WRITE = "tree:write", _("change queue trees")
        CONNECT = "cluster:connect", _("connect clusters and replace their credentials")
        OPERATE = "cluster:operate", _("pause preemption, set modes and limits")
        CLASSES = "cluster:classes", _("change priority classes")
        NOTIFY = "tenant:notify", _("change a tenant’s notification channels")
        SITE = "site:administer", _("change site-wide settings")

    PATH = [RegexValidator(r"^[^\s.]+(\.[^\s.]+)*\Z", _("Enter a valid queue path, such as root.team-a."))]
    """How the path of a queue is written."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=limits.TOKEN_NAME)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(validators=[check_scopes])
    subtree = models.CharField(
        max_length=500,
        blank=True,
        validators=PATH,
        help_text=_(
            "Queue path. The token is valid for this queue and the queues below it. Leave empty for all queues."
        ),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def key(self) -> str:
        """What tells the token from others, in counts and kept answers."""
        return str(self.pk)

    @property
    def facts(self) -> dict[str, str]:
        """What the audit log says of it where it did something."""
        return {"token": self.prefix}

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()


class WorkloadIdentity(models.Model):
    """Whose ID tokens are good here: a pipeline's, by who issued them and what they say. It acts as a service account.

    It limits that account as an API token does.
    """

    name = models.CharField(max_length=limits.TOKEN_NAME, unique=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="workload_identities")
    issuer = models.CharField(
        max_length=limits.ISSUER, help_text=_("Address of the issuer, exactly as tokens have it in the claim iss.")
    )
    audience = models.CharField(
        max_length=limits.ISSUER, help_text=_("What tokens must have in the claim aud: the address of this site.")
    )
    claims = models.JSONField(
        validators=[check_claims],
        help_text=_("Claims that a token must have. In a value, * matches any characters."),
    )
    scopes = models.JSONField(validators=[check_scopes])
    subtree = models.CharField(max_length=500, blank=True, validators=ApiToken.PATH)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_subject = models.CharField(max_length=limits.SUBJECT, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = _("workload identities")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class WorkloadToken:
    """The ID token of a pipeline that a request signed in with. It limits what the service account may do."""

    identity: WorkloadIdentity
    subject: str
    """Whom the issuer calls it: ``repo:example/queues:ref:refs/heads/main``."""
    expires_at: datetime

    @property
    def scopes(self) -> list[str]:
        """What it is good for."""
        found: list[str] = self.identity.scopes
        return found

    @property
    def subtree(self) -> str:
        """The queue that it is limited to; empty: none."""
        return self.identity.subtree

    @property
    def key(self) -> str:
        """What tells the identity from others, and from API tokens."""
        return f"workload-{self.identity.pk}"

    @property
    def facts(self) -> dict[str, str]:
        """What the audit log says of it where it did something."""
        return {"workload_identity": self.identity.name, "subject": self.subject}


class FormerPath(models.Model):
    """What a queue in force was called before. Nothing in force, in whichever hierarchy, is called so now."""

    hierarchy = models.ForeignKey("queues.Hierarchy", on_delete=models.CASCADE, related_name="+")
    former = models.CharField(max_length=500)
    path = models.CharField(max_length=500)

    def __str__(self) -> str:
        return f"{self.former} → {self.path}"


class KeptAnswer(models.Model):
    """What a request with an idempotency key was answered, to answer the same again. Without a status: it runs."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    """A keyed digest of the request, which may hold secrets."""
    begun_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer")]

    def __str__(self) -> str:
        return f"{self.user} {self.key}: {self.status}"


class AuditEvent(models.Model):
    """Who changed what, when and why. Written once, never changed."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=limits.AUDIT_VERB)
    target = models.CharField(max_length=limits.AUDIT_TARGET)
    reason = models.TextField(blank=True, validators=[MaxLengthValidator(limits.AUDIT_REASON)])
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.target}"
