"""Times that people pick: in their own zone where scripts run, else in UTC."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.numbers import read_time


class MomentInput(forms.DateTimeInput):
    """A control for a date and a time of day.

    It holds UTC, which static/moments.js shows in the viewer's zone and turns back when the form is sent. A browser
    must not restore what was shown: it would be taken for UTC.
    """

    input_type = "datetime-local"
    template_name = "site/moment.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"autocomplete": "off", "data-moment": True, **(attrs or {})})

    def format_value(self, value: Any) -> str:
        """Return what the control holds, also of a time that came back with an error somewhere else."""
        if isinstance(value, str) and value:
            try:
                value = read_time(value)
            except ValidationError:
                return value
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M") if isinstance(value, datetime) else ""


class MomentField(forms.CharField):
    """A moment, None where none was entered."""

    def __init__(self, *, control: str = "", **settings: Any) -> None:
        attrs = {"id": control} if control else {}
        settings = {"required": False, "max_length": limits.TYPED_TIME, "widget": MomentInput(attrs), **settings}
        settings["error_messages"] = {"required": gettext_lazy("Enter a date and a time.")}
        super().__init__(**settings)

    def to_python(self, value: Any) -> datetime | None:  # type: ignore[override]  # Django types it for text only
        """Read it. Raises ValidationError for what is no time."""
        text = super().to_python(value)
        return read_time(text) if text else None

    def run_validators(self, value: Any) -> None:
        """Check nothing more: a moment that was read has no length."""
