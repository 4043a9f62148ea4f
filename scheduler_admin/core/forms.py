"""What the forms of all pages share: how fields are drawn, how strictly input is read, and where errors are shown."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, BadRequest, ValidationError
from django.forms.renderers import TemplatesSetting
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.datastructures import MultiValueDict
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.core import limits
from scheduler_admin.core.numbers import read_number, read_time

PLAIN = {"spellcheck": "false"}
"""Attributes of a control for what is no prose."""
CODE = {**PLAIN, "autocapitalize": "none"}
"""Attributes of a control for names and addresses, which a phone must not capitalize."""
SECRET = {**CODE, "autocomplete": "off"}
"""Attributes of a control for what a browser must not remember."""


class FormRenderer(TemplatesSetting):
    """Draw every field of a page by one template."""

    field_template_name = "site/field.html"


class BoundField(forms.BoundField):
    """A field that knows the ids of its hint and of its error, which its control refers to."""

    form: "Form"

    @property
    def hint_id(self) -> str:
        """Return the id of the help text."""
        return self._id("l")

    @property
    def error_id(self) -> str:
        """Return the id of the error."""
        return self._id("e")

    def _id(self, kind: str) -> str:
        return "-".join(part for part in (kind, self.form.key, self.name) if part)

    @property
    def described_by(self) -> str:
        """Return the ids of all that is to be read with the control, separated by spaces."""
        ids = [self.hint_id] if self.help_text else []
        ids += [self.error_id] if self.errors else []
        return "" if self.is_hidden else " ".join(ids)

    @property
    def aria_describedby(self) -> str | None:
        """Return the same, unless the control itself names something else."""
        return None if self.field.widget.attrs.get("aria-describedby") else self.described_by


class UnseenInput(forms.PasswordInput):
    """A line of text that is legible while it is typed, and that no page shows again."""

    input_type = "text"


class UnseenTextarea(forms.Textarea):
    """The same for several lines."""

    def format_value(self, value: object) -> None:
        """Show none of what was typed."""


class Form(forms.Form):
    """A form of a page.

    A field that takes one value refuses several: a browser never sends them, so it is unclear which is meant.
    """

    key: ClassVar[str] = ""
    """Part of the ids of hints and errors, where a page has several forms."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """What a service calls a field -> what it is called here, where that differs."""
    bound_field_class = BoundField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["auto_id"] = False  # labels hold their controls, so these need no ids
        super().__init__(*args, **kwargs)

    def full_clean(self) -> None:
        """Check what was sent."""
        super().full_clean()
        if isinstance(self.data, MultiValueDict):
            for name, field in self.fields.items():
                several = getattr(field.widget, "allow_multiple_selected", False)
                if not several and len(self.data.getlist(self.add_prefix(name))) > 1:
                    self.add_error(name, _("Specify this only once."))

    def refuse(self, error: ValidationError | str) -> None:
        """Show what a service found wrong: at the field that the error names, or above all fields."""
        if not isinstance(error, ValidationError):
            error = ValidationError(error)
        by_field = error.error_dict if hasattr(error, "error_dict") else {NON_FIELD_ERRORS: error.error_list}
        for name, errors in by_field.items():
            field = self.renamed.get(name, name)
            self.add_error(field if field in self.fields else None, errors)

    def show(self, **values: str) -> None:
        """Show other values than those that were sent, once these are checked."""
        self.data = dict(self.data.items()) | values

    def lock(self) -> None:
        """Show the form to somebody who may not send it."""
        for field in self.fields.values():
            field.disabled = True

    def offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        """Let people choose what a text field takes; a service checks what comes back."""
        widget = self.fields[name].widget
        assert isinstance(widget, forms.Select)
        widget.choices = list(choices)

    def suggest(self, name: str, choices: Iterable[tuple[str, str]], *, empty: str) -> None:
        """Let people type what they could not choose among very many. ``empty``: what an empty field stands for."""
        self.fields[name].widget = SuggestingInput(list(choices), {**PLAIN, "placeholder": empty})

    @property
    def error_id(self) -> str:
        """Return the id of the errors above all fields."""
        return f"e-{self.key or 'form'}"

    @property
    def general_errors(self) -> list[str]:
        """Return what is wrong with no field that a person sees."""
        hidden = [str(message) for field in self.hidden_fields() for message in field.errors]
        return [*map(str, self.non_field_errors()), *hidden]

    @property
    def all_errors(self) -> str:
        """Return everything that is wrong, for a page that does not show the form again."""
        return " ".join(str(message) for messages in self.errors.values() for message in messages)


class ReasonField(forms.CharField):
    """Why somebody does something. Others read it in the audit log."""

    def __init__(self, *, max_length: int = limits.REASON, **settings: Any) -> None:
        settings.setdefault("label", gettext_lazy("Reason"))
        settings["error_messages"] = {"required": gettext_lazy("Enter a reason. Other people will see it.")}
        super().__init__(max_length=max_length, **settings)


class KeyField(forms.Field):
    """The number of a row, or of a version of it, that a page sends back.

    What is no number becomes 0, which nothing has: the row is then not found, rather than the form wrong.
    """

    widget = forms.HiddenInput

    def __init__(self, **settings: Any) -> None:
        super().__init__(required=False, **settings)

    def to_python(self, value: object) -> int:
        """Return the number, or 0."""
        return read_number(str(value or ""))


class ActForm(Form):
    """Which button of a page sent a form."""

    act = forms.ChoiceField()

    def __init__(self, *args: Any, known: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = known
        self.fields["act"] = forms.ChoiceField(choices=[(act, act) for act in known])


def sent_act(request: HttpRequest, known: Collection[str], default: str | None = None) -> str:
    """Return which of the ``known`` buttons of a page sent the form.

    Raises BadRequest for any other, unless there is a ``default``.
    """
    form = ActForm(request.POST, known=known)
    if form.is_valid():
        return str(form.cleaned_data["act"])
    if default is None:
        raise BadRequest
    return default


class SuggestingInput(forms.TextInput):
    """A control for a text, with suggestions while somebody types."""

    template_name = "site/suggesting.html"

    def __init__(self, choices: Sequence[tuple[str, str]], attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self._choices = choices

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """Return what the template shows, with the suggestions as a list of its own."""
        context = super().get_context(name, value, attrs)
        found = context["widget"]["attrs"]
        found["list"] = f"{found.get('id') or name}-suggested"
        return {**context, "choices": self._choices}


class MomentInput(forms.DateTimeInput):
    """A control for a date and a time of day.

    It holds UTC, which static/moments.js shows in the viewer's zone and turns back when the form is sent. A browser
    must not restore what was shown: it would be taken for UTC.
    """

    input_type = "datetime-local"
    template_name = "site/moment.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"autocomplete": "off", "data-moment": True, **(attrs or {})})

    def format_value(self, value: Any) -> str | None:
        """Return what the control holds: nothing for what is no time, which browsers would not show."""
        at = value
        if isinstance(value, str):
            try:
                at = read_time(value)
            except ValidationError:
                return None
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M") if isinstance(at, datetime) else None


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
        super().run_validators(text)
        return read_time(text) if text else None

    def run_validators(self, value: Any) -> None:
        """Check nothing more: only the text of a moment has a length."""


def go_back(request: HttpRequest, otherwise: str, *args: object) -> HttpResponseRedirect:
    """Redirect to the page that the form was sent from (its field ``next``), where that is one of this site."""
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(resolve_url(otherwise, *args))
