"""Forms of the demo's buttons."""

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.core.forms import Form
from scheduler_admin.demo.simulator_client import SPEEDS

_NONE = gettext_lazy("Select one of the listed speeds.")


class SpeedForm(Form):
    """Set how fast the simulated cluster lives."""

    speed = forms.ChoiceField(
        choices=[(speed, speed) for speed in SPEEDS], error_messages={"required": _NONE, "invalid_choice": _NONE}
    )
