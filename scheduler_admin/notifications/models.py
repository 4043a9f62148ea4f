"""Where a tenant is told what happens to it, and the outbox of what it is told."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, validate_email
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits

SITE = "*"
"""Instead of a tenant's name: the whole site."""
TENANT_EVENTS = ("going", "preempted", "refused", "repeated", "loop", "digest", "below_min")
"""The fields that say what a tenant's channel reports."""


def check_site_events(value: Any) -> None:
    """Raise ValidationError for anything but a list of site events, each once."""
    if (
        not isinstance(value, list)
        or len(set(map(str, value))) < len(value)
        or any(v not in SITE_EVENTS for v in value)
    ):
        raise ValidationError(_("Select events of this list: %(known)s."), params={"known": ", ".join(SITE_EVENTS)})


class ChannelQuerySet(RestrictedQuerySet["Channel"]):
    """Channels; a tenant sees its own, and those of the site are for who sees everything."""

    def within(self, scope: Scope) -> Self:
        return self.filter(tenant__in=scope.tenants)


class Channel(models.Model):
    """One place to which notifications of a tenant or of the site go. Nobody is ever shown what is sealed."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook", _("Webhook")
        SLACK = "slack", "Slack"
        EMAIL = "email", _("Email")

    class PayloadFormat(models.TextChoices):
        STANDARD = "standard-webhooks", "Standard Webhooks"
        CLOUDEVENTS = "cloudevents", "CloudEvents"

    tenant = models.ForeignKey(
        Tenant,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="channels",
        help_text=_("Null: the site, whose own events the channel reports."),
    )
    name = models.CharField(max_length=limits.CHANNEL_NAME)
    kind = models.CharField(max_length=10, choices=Kind)
    payload_format = models.CharField(
        max_length=20,
        choices=PayloadFormat,
        default=PayloadFormat.STANDARD,
        db_default=PayloadFormat.STANDARD,
        help_text=_("Format of the body that a webhook receives."),
    )
    address = models.CharField(
        max_length=300, help_text=_("What may be shown of the address: the host of a webhook, or the email address.")
    )
    sealed = models.TextField(
        blank=True, help_text=_("The full address of the webhook and its signing secret, encrypted.")
    )
    language = models.CharField(max_length=10, choices=settings.LANGUAGES, default=settings.LANGUAGE_CODE)
    going = models.BooleanField(
        default=True, help_text=_("Whether the channel reports pods that are about to be preempted.")
    )
    preempted = models.BooleanField(default=True, help_text=_("Whether the channel reports pods that were preempted."))
    refused = models.BooleanField(default=False, help_text=_("Whether the channel reports rejected evictions."))
    repeated = models.BooleanField(
        default=False, help_text=_("Whether the channel reports applications that are preempted repeatedly.")
    )
    loop = models.BooleanField(
        default=False, help_text=_("Whether the channel reports applications that preempt each other in a loop.")
    )
    digest = models.BooleanField(
        default=False, help_text=_("Whether the channel sends a daily digest of the previous day.")
    )
    below_min = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=None,
        validators=[MinValueValidator(1), MaxValueValidator(limits.MINUTES_BELOW)],
        help_text=_(
            "Minutes that a queue must be below its guarantee, with pods waiting, before the "
            "channel reports it. Null: never."
        ),
    )
    site_events = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        validators=[check_site_events],
        help_text=_("What a channel of the site reports: events of the site itself."),
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["tenant__name", "name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="channel_name"),
            models.UniqueConstraint(fields=["name"], condition=models.Q(tenant__isnull=True), name="site_channel_name"),
        ]

    def __str__(self) -> str:
        return f"{self.target}: {self.name}"

    @property
    def target(self) -> str:
        """The tenant's name, or ``*`` for the site: what the audit log calls it."""
        return self.tenant.name if self.tenant else SITE

    @property
    def owner(self) -> str:
        """The tenant's name, or that it is the site's, in the reader's words."""
        return self.tenant.name if self.tenant else gettext("The site")

    @property
    def tells_of(self) -> list[str]:
        """In the reader's words."""
        if self.tenant is None:
            return [str(event.label) for event in SITE_EVENTS if event in self.site_events]
        ticked = {
            Notification.Event.GOING: self.going,
            Notification.Event.PREEMPTED: self.preempted,
            Notification.Event.REFUSED: self.refused,
            Notification.Event.REPEATED: self.repeated,
            Notification.Event.LOOP: self.loop,
            Notification.Event.DIGEST: self.digest,
        }
        words = [str(event.label) for event, told in ticked.items() if told]
        minutes = self.below_min
        said = ngettext("below guarantee for %(n)s minute", "below guarantee for %(n)s minutes", minutes or 0)
        return [*words, said % {"n": minutes}] if minutes else words

    def clean(self) -> None:
        """Raise ValidationError for events of another kind of channel, and for mail where none can be sent."""
        self._check_events()
        if self.kind == self.Kind.EMAIL:
            if not settings.EMAIL_HOST:
                raise ValidationError({"kind": _("This site can’t send email: EMAIL_HOST is not set.")})
            try:
                validate_email(self.address)
            except ValidationError as error:
                raise ValidationError({"address": error.messages}) from None

    def _check_events(self) -> None:
        """Raise ValidationError where a tenant's channel reports the site, or the site's a tenant."""
        if self.tenant and self.site_events:
            raise ValidationError({"site_events": _("Only channels of the site report these events.")})
        wrong = next((name for name in TENANT_EVENTS if self.tenant is None and getattr(self, name)), None)
        if wrong:
            raise ValidationError({wrong: _("Only channels of a tenant report this.")})


class NotificationQuerySet(RestrictedQuerySet["Notification"]):
    """Notifications; a tenant sees those of its own channels."""

    def within(self, scope: Scope) -> Self:
        return self.filter(channel__tenant__in=scope.tenants)


class Notification(models.Model):
    """One message of the outbox, written with what it tells of; sent at least once, always with the same ``guid``."""

    class Event(models.TextChoices):
        GOING = "about-to-be-preempted", _("about to be preempted")
        PREEMPTED = "preempted", _("preempted")
        REFUSED = "eviction-refused", _("eviction refused")
        REPEATED = "preempted-repeatedly", _("preempted repeatedly")
        LOOP = "preemption-loop", _("preemption loop")
        BELOW = "below-guarantee", _("below guarantee")
        DIGEST = "daily-digest", _("daily digest")
        REVISION_PUBLISHED = "revision-published", _("revision published")
        MODE_CHANGED = "mode-changed", _("mode changed")
        EVICTIONS_PAUSED = "evictions-paused", _("evictions paused")
        EVICTIONS_RESUMED = "evictions-resumed", _("evictions resumed")
        CREDENTIALS_EXPIRING = "credentials-expiring", _("credentials expiring")
        CLUSTER_UNREADABLE = "cluster-unreadable", _("cluster unreadable")
        CLUSTER_READABLE = "cluster-readable", _("cluster readable again")
        SUMMARY = "summary", _("summary")
        TEST = "test", _("test")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("sent")
        SUMMARIZED = "summarized", _("in a summary")
        FAILED = "failed", _("failed")

    # Unchecked by the database, which does so at the end: who removes a channel meanwhile would undo a whole pass.
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="notifications", db_constraint=False)
    guid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    event = models.CharField(max_length=30, choices=Event)
    about = models.CharField(max_length=1_000, help_text=_("The application or queue, with its cluster."))
    part = models.CharField(
        max_length=40, blank=True, help_text=_("The decision, or the start time. Each is reported only once.")
    )
    pods = models.JSONField(default=list, blank=True, help_text=_("The UIDs of the pods in the notification."))
    lines = models.JSONField(default=list, help_text=_("The sentences of the message, in the channel’s language."))
    link = models.CharField(max_length=1_500)
    facts = models.JSONField(default=dict, blank=True, help_text=_("The same content for programs."))
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    tried_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True, help_text=_("The error of the last attempt."))

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["channel", "id"], condition=models.Q(state="waiting"), name="notification_waiting"),
            models.Index(fields=["channel", "id"], condition=models.Q(state="failed"), name="notification_failed"),
            models.Index(fields=["channel", "tried_at"], name="notification_tried"),
            models.Index(fields=["channel", "event", "about"], name="notification_about"),
            models.Index(fields=["created_at"], name="notification_created"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.guid}"


SITE_EVENTS = (
    Notification.Event.REVISION_PUBLISHED,
    Notification.Event.MODE_CHANGED,
    Notification.Event.EVICTIONS_PAUSED,
    Notification.Event.EVICTIONS_RESUMED,
    Notification.Event.CREDENTIALS_EXPIRING,
    Notification.Event.CLUSTER_UNREADABLE,
    Notification.Event.CLUSTER_READABLE,
    Notification.Event.LOOP,
)
"""What happens to the site itself, and a channel of the site can report."""


class ShortfallQuerySet(RestrictedQuerySet["Shortfall"]):
    """Shortfalls; tenants see those of their queues."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("queue"))


class Shortfall(models.Model):
    """A queue that is below its guarantee while asks wait for what it lacks, and since when; gone once it recovers."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="shortfalls")
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    since = models.DateTimeField()
    told_min = models.PositiveIntegerField(
        default=0, help_text=_("Minutes below the guarantee at which it was last reported.")
    )

    objects = ShortfallQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "queue"], name="shortfall_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.queue}"
