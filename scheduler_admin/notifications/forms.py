"""Forms of the pages of notifications: a tenant adds a channel, and changes one."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info, gettext_lazy, pgettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import PLAIN, SECRET, Form, UnseenInput
from scheduler_admin.notifications.models import TENANT_EVENTS, Channel, Notification

EVENTS = tuple(name for name in TENANT_EVENTS if name != "below_min")
"""What a tenant's channel may tell of, but for queues below their guarantee, which have a number of minutes."""
_LOOPS = gettext_lazy("Applications that preempt each other in a loop, once a day while the loop lasts")
_SITE_LABELS = {
    Notification.Event.REVISION_PUBLISHED: gettext_lazy("Published revisions of queue trees"),
    Notification.Event.MODE_CHANGED: gettext_lazy("Changes of a cluster’s mode"),
    Notification.Event.EVICTIONS_PAUSED: gettext_lazy("Evictions that someone pauses"),
    Notification.Event.EVICTIONS_RESUMED: gettext_lazy("Evictions that someone resumes"),
    Notification.Event.CREDENTIALS_EXPIRING: gettext_lazy(
        "Stored credentials of a cluster that expire within 14 days, and again once they have expired"
    ),
    Notification.Event.CLUSTER_UNREADABLE: gettext_lazy("Clusters that can’t be read"),
    Notification.Event.CLUSTER_READABLE: gettext_lazy("Clusters that can be read again"),
    Notification.Event.LOOP: _LOOPS,
}
_MINUTES = gettext_lazy("Enter a whole number of minutes from 1 to 1440.")
_ADDRESS: dict[str, Any] = {
    "max_length": limits.CHANNEL_ADDRESS,
    "widget": UnseenInput(attrs=SECRET),
    "help_text": gettext_lazy(
        "A URL must start with https:// and lead to the internet or to a network that this site allows. "
        "If the form has an error, this field is cleared: enter the address again."
    ),
}
_SECRET: dict[str, Any] = {
    "required": False,
    "strip": False,
    "max_length": limits.SIGNING_SECRET,
    "widget": forms.PasswordInput(attrs={"autocomplete": "new-password"}),
}


class LanguageSelect(forms.Select):
    """Languages, each in its own words."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return an option that says in which language its label is."""
        option = super().create_option(name, value, *args, **kwargs)
        option["attrs"]["lang"] = value
        return option


def _event(label: Any) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False)


class ChannelForm(Form):
    """What a new channel and a known one have in common. Where it leads and its secret are not shown again."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=limits.CHANNEL_NAME, widget=forms.TextInput(attrs=PLAIN)
    )
    address: forms.Field
    secret: forms.Field
    going = _event(gettext_lazy("Pods about to be preempted, during their grace period"))
    preempted = _event(gettext_lazy("Pods that were preempted"))
    refused = _event(gettext_lazy("Evictions that the API server or a webhook of the cluster rejected"))
    repeated = _event(gettext_lazy("Applications preempted for the third time in a day"))
    loop = _event(_LOOPS)
    digest = _event(gettext_lazy("Daily digest of the previous day: preempted pods and how long pods waited"))
    below_min = forms.IntegerField(
        label=gettext_lazy(
            "Queues below their guarantee with pods waiting, after this many minutes (leave empty to turn off)"
        ),
        required=False,
        min_value=1,
        max_value=limits.MINUTES_BELOW,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "maxlength": len(str(limits.MINUTES_BELOW))}),
        error_messages={"invalid": _MINUTES, "min_value": _MINUTES, "max_value": _MINUTES},
    )
    site_events = forms.MultipleChoiceField(
        label=gettext_lazy("Report events of the site"),
        required=False,
        choices=[(event.value, label) for event, label in _SITE_LABELS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    payload_format = forms.ChoiceField(
        label=gettext_lazy("Format (webhooks only)"),
        required=False,
        choices=Channel.PayloadFormat.choices,
        help_text=gettext_lazy("Both formats are signed as Standard Webhooks defines."),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        choices=[(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES],
        widget=LanguageSelect,
    )

    def events(self) -> list[forms.BoundField]:
        """Return the fields of what it tells of."""
        return [self[name] for name in EVENTS]

    def values(self, *, of_site: bool) -> dict[str, Any]:
        """Return what of a channel is no secret. A page shows what only other channels report, but that is not kept."""
        reported = ("site_events",) if of_site else TENANT_EVENTS
        given = {name: self.cleaned_data[name] for name in ("name", "language", *reported)}
        kept = self.cleaned_data["payload_format"] or Channel.PayloadFormat.STANDARD
        return {**given, "payload_format": kept}


class NewChannelForm(ChannelForm):
    """Add a channel."""

    tenant = forms.CharField(label=gettext_lazy("Tenant"), max_length=limits.TENANT_NAME, widget=forms.Select)
    kind = forms.ChoiceField(label=pgettext_lazy("way", "Method"), choices=Channel.Kind.choices)
    address = forms.CharField(label=gettext_lazy("Address (URL or email address)"), **_ADDRESS)
    secret = forms.CharField(
        label=gettext_lazy("Signing secret (webhooks only)"),
        help_text=gettext_lazy(
            "whsec_ and 24 to 64 random bytes in base64. Your receiver needs the same secret to verify that a message "
            "comes from here. If you leave this empty, a secret is generated and shown once."
        ),
        **_SECRET,
    )


class ChangeChannelForm(ChannelForm):
    """Change a channel from what the person saw."""

    seen = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)
    address = forms.CharField(
        label=gettext_lazy("New address (leave empty to keep the current one)"), required=False, **_ADDRESS
    )
    secret = forms.CharField(
        label=gettext_lazy("New signing secret (leave empty to keep the current one)"),
        help_text=gettext_lazy(
            "whsec_ and 24 to 64 random bytes in base64. For one day, messages are signed with the former secret, too."
        ),
        **_SECRET,
    )
    rotate_secret = forms.BooleanField(
        label=gettext_lazy("Generate a new signing secret and show it once"), required=False
    )
    enabled = forms.BooleanField(label=gettext_lazy("Enabled: notifications are sent"), required=False)
