"""Forms of the pages of notifications: a tenant adds a channel, and changes one."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info, gettext_lazy, pgettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.forms import PLAIN, SECRET, Form, UnseenInput
from scheduler_admin.notifications.models import Channel

EVENTS = ("going", "preempted", "refused", "repeated", "loop", "digest")
"""What a channel may tell of, but for queues below their guarantee, which have a number of minutes."""
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
    loop = _event(gettext_lazy("Applications that preempt each other in a loop, once a day while the loop lasts"))
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
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        choices=[(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES],
        widget=LanguageSelect,
    )

    def events(self) -> list[forms.BoundField]:
        """Return the fields of what it tells of."""
        return [self[name] for name in EVENTS]

    @property
    def values(self) -> dict[str, Any]:
        """Return what of a channel is no secret."""
        return {name: self.cleaned_data[name] for name in ("name", "language", "below_min", *EVENTS)}


class NewChannelForm(ChannelForm):
    """Add a channel."""

    tenant = forms.CharField(label=gettext_lazy("Tenant"), max_length=limits.TENANT_NAME, widget=forms.Select)
    kind = forms.ChoiceField(label=pgettext_lazy("way", "Method"), choices=Channel.Kind.choices)
    address = forms.CharField(label=gettext_lazy("Address (URL or email address)"), **_ADDRESS)
    secret = forms.CharField(
        label=gettext_lazy("Signing secret (webhooks only)"),
        help_text=gettext_lazy(
            "At least 16 characters. Your receiver needs the same secret to verify that a message comes "
            "from here. If you leave this empty, a secret is generated and shown once."
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
            "At least 16 characters. Your receiver needs the same secret to verify that a message comes from here."
        ),
        **_SECRET,
    )
    rotate_secret = forms.BooleanField(
        label=gettext_lazy("Generate a new signing secret and show it once"), required=False
    )
    enabled = forms.BooleanField(label=gettext_lazy("Enabled: notifications are sent"), required=False)
