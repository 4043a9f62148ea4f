"""Forms of a priority class: what they show of one, and the class that they ask for."""

from typing import Any

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engine.formats.kubernetes.convert import MAY_PREEMPT_ANNOTATION, NEVER, OPT_OUT_ANNOTATION
from engine.formats.kubernetes.priority_classes import with_preemption_annotations
from engine.formats.tree_json.label_lines import PairsError, read_pairs, write_pairs
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import PriorityClass
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, PLAIN, Form, ReasonField
from scheduler_admin.core.translation import text

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""What ``kubectl apply`` keeps on objects; not for people to write."""
_ASIDE = (OPT_OUT_ANNOTATION, MAY_PREEMPT_ANNOTATION, APPLIED)
"""Annotations that are shown otherwise, or not."""
PREEMPTS = "PreemptLowerPriority"
_ON = "on"
"""What a browser sends for a box that is ticked; it sends nothing for one that is not."""
EMPTY = {"preemption_policy": PREEMPTS, "allow_preemption": _ON}
"""What the form for a new class shows at first."""
_WHOLE_NUMBER = gettext_lazy("Enter a whole number.")
_WHY = gettext_lazy("Reason (kept in the audit log)")


class PairsField(forms.CharField):
    """Labels or annotations, one a line."""

    def __init__(self, label: Any) -> None:
        super().__init__(
            label=label,
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={**PLAIN, "rows": 3}),
            help_text=gettext_lazy("One per line, as <code>key: value</code>."),
        )

    def clean(self, value: object) -> dict[str, str]:
        """Return the pairs. Raises ValidationError."""
        try:
            return read_pairs(super().clean(value))
        except PairsError as error:
            raise ValidationError(text(error.sentence)) from None


class SeenField(forms.Field):
    """The class that somebody saw, which the page sends back; None for a form that is none of ours."""

    widget = forms.HiddenInput

    def to_python(self, value: object) -> PriorityClass | None:
        """Return the class."""
        try:
            return msgspec.json.decode(str(value or ""), type=PriorityClass)
        except UNDECODABLE:
            return None


class ClassForm(Form):
    """What may be changed of a class."""

    description = forms.CharField(
        label=gettext_lazy("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "true"}),
    )
    allow_preemption = forms.BooleanField(
        label=gettext_lazy("Its pods can be preempted"),
        required=False,
        help_text=gettext_lazy(
            "If cleared, the class gets the annotation <code>yunikorn.apache.org/allow-preemption: "
            '"false"</code>. The fence policy and YuniKorn then spare its pods, except as a last resort '
            "where the queue tree allows it. kube-scheduler ignores the annotation."
        ),
    )
    may_preempt = forms.BooleanField(
        label=gettext_lazy("The engine can preempt for its pods even with preemptionPolicy Never"),
        required=False,
        help_text=gettext_lazy(
            "With Never, kube-scheduler does not preempt for these pods. The annotation "
            '<code>scheduler-admin.io/may-preempt: "true"</code> lets the engine make room for them under '
            "its policy. Without it, nothing preempts for them."
        ),
    )
    global_default = forms.BooleanField(
        label=gettext_lazy("Default class for new pods that name no class"),
        required=False,
        help_text=gettext_lazy("Existing pods keep their priority. Only one class can be the default."),
    )
    labels = PairsField(gettext_lazy("Labels"))
    annotations = PairsField(gettext_lazy("Annotations"))
    reason = ReasonField(label=_WHY)

    def clean_description(self) -> str:
        """Return it with line breaks as Kubernetes has them: a browser sends some of its own."""
        found: str = self.cleaned_data["description"]
        return found.replace("\r\n", "\n")

    def clean_annotations(self) -> dict[str, str]:
        """Return them, without those that the boxes write. Raises ValidationError."""
        found: dict[str, str] = self.cleaned_data["annotations"]
        if set(found) & set(_ASIDE):
            raise ValidationError(
                _("Use the checkboxes above to set %(keys)s.") % {"keys": ", ".join(sorted(_ASIDE[:2]))}
            )
        return found

    def over(self, one: PriorityClass) -> PriorityClass:
        """Return a class with what may be changed as the form has it."""
        given = self.cleaned_data
        aside = {key: value for key, value in one.annotations.items() if key in _ASIDE}
        fields: dict[str, Any] = {name: given[name] for name in ("description", "global_default", "labels")}
        after = msgspec.structs.replace(one, **fields, annotations={**given["annotations"], **aside})
        return with_preemption_annotations(
            after, opted_out=not given["allow_preemption"], may_preempt=given["may_preempt"]
        )


class ChangeClassForm(ClassForm):
    """Change a class from what the person saw."""

    seen = SeenField()


class NewClassForm(ClassForm):
    """Make a class."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=limits.OBJECT_NAME, widget=forms.TextInput(attrs=CODE)
    )
    value = forms.RegexField(
        r"\A[-+]?[0-9]{1,18}\Z",
        label=gettext_lazy("Value"),
        max_length=19,
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
        error_messages={"invalid": _WHOLE_NUMBER, "max_length": _WHOLE_NUMBER},
        help_text=gettext_lazy(
            "A whole number, at most 1000000000. Pods with higher values come first; pods without a class "
            "have 0. You can’t change the name, value, or preemptionPolicy later."
        ),
    )
    preemption_policy = forms.ChoiceField(
        label="preemptionPolicy",
        choices=[
            (PREEMPTS, gettext_lazy("PreemptLowerPriority: its pods can preempt pods of lower priority")),
            (NEVER, gettext_lazy("Never: its pods are scheduled before pods of lower priority, but preempt none")),
        ],
        error_messages={"invalid_choice": gettext_lazy("Choose one of the two options.")},
    )

    def asked(self) -> PriorityClass:
        """Return the class that the form asks for."""
        given = self.cleaned_data
        never = given["preemption_policy"] == NEVER
        return self.over(PriorityClass(name=given["name"], value=int(given["value"]), never_preempts=never))


class DeleteClassForm(Form):
    """Delete a class that the person saw."""

    key = "delete"
    seen = SeenField()
    reason = ReasonField(label=_WHY)


def typed_of(one: PriorityClass) -> dict[str, str]:
    """Return what the form shows of a class."""
    boxes = {
        "allow_preemption": not one.opted_out,
        "may_preempt": one.may_preempt,
        "global_default": one.global_default,
    }
    return {
        "seen": msgspec.json.encode(one).decode(),
        "description": one.description,
        "labels": write_pairs(one.labels),
        "annotations": write_pairs({key: value for key, value in one.annotations.items() if key not in _ASIDE}),
        **{name: _ON for name, ticked in boxes.items() if ticked},
    }
