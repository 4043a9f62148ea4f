"""What the forms of all pages share: what they refuse, where they show why, and that REST takes texts as long."""

from typing import Any

import pytest
from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.http import QueryDict
from django.test import RequestFactory
from django.test.html import parse_html
from rest_framework import serializers

from scheduler_admin.accounts.api.group_mappings import GroupMappingSerializer
from scheduler_admin.accounts.forms.group_mappings import MappingForm
from scheduler_admin.accounts.forms.site import PreemptorForm
from scheduler_admin.clusters.api.connections import ClusterCredentialsRequestSerializer
from scheduler_admin.clusters.api.pauses import PauseSerializer
from scheduler_admin.clusters.api.windows import WindowSerializer
from scheduler_admin.clusters.forms.connections import ConnectForm, CredentialsForm
from scheduler_admin.clusters.forms.pauses import PauseForm
from scheduler_admin.clusters.forms.settings import ModeForm, WindowForm
from scheduler_admin.clusters.models import Pause, Window
from scheduler_admin.core.forms import Form, KeyField, ReasonField, UnseenInput, UnseenTextarea, sent_act
from scheduler_admin.decisions.api.saved_filters import NewSavedFilterSerializer
from scheduler_admin.decisions.forms import SaveFilterForm
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.notifications.api.serializers import NewNotificationChannelSerializer
from scheduler_admin.notifications.forms import NewChannelForm
from scheduler_admin.notifications.models import Channel
from scheduler_admin.queues.api.tree_serializers import PutParameters
from scheduler_admin.queues.forms import BackForm, PublishForm
from scheduler_admin.queues.models import Revision
from scheduler_admin.rest.parameters import ReasonParameters


class Some(Form):
    """One field of each kind."""

    key = "some"
    renamed = {"queue": "name"}
    row = KeyField()
    name = forms.CharField(label="Name", max_length=5, help_text="A <b>short</b> one.")
    days = forms.MultipleChoiceField(required=False, choices=[("mon", "Mon"), ("tue", "Tue")])
    secret = forms.CharField(required=False, widget=UnseenInput)
    document = forms.CharField(required=False, widget=UnseenTextarea)
    reason = ReasonField()


def sent(text: str) -> Some:
    """The form of what a browser sends."""
    return Some(QueryDict(text))


def test_one_value_is_one_value() -> None:
    """Of a field that takes several, several are taken."""
    form = sent("row=1&name=a&days=mon&days=tue&reason=x&reason=y&name=b")
    assert {name: form.errors[name] for name in form.errors} == {
        "name": ["Specify this only once."],
        "reason": ["Specify this only once."],
    }


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("", 0), ("x", 0), ("-1", 0), ("9" * 40, 0), ("1.5", 0)])
def test_what_is_no_number_of_a_row_is_that_of_none(text: str, number: int) -> None:
    form = sent(f"name=a&reason=x&row={text}")
    assert form.is_valid()
    assert form.cleaned_data["row"] == number


def test_a_reason_is_needed_and_has_an_end() -> None:
    assert sent("name=a&reason= ").errors["reason"] == ["Enter a reason. Other people will see it."]
    assert "at most 500 characters" in sent(f"name=a&reason={'x' * 501}").errors["reason"][0]


def test_what_a_service_refuses_stands_at_the_field_that_it_names() -> None:
    """Also by another name; what names none, or one that nobody sees, above all fields."""
    form = sent("name=a&reason=x")
    assert form.is_valid()
    form.refuse(ValidationError({"queue": "No such queue.", "row": "Gone.", "other": "Odd."}))
    form.refuse("Try again.")
    assert form.errors["name"] == ["No such queue."]
    assert form.general_errors == ["Odd.", "Try again.", "Gone."]
    assert set(form.all_errors.split(". ")) == {"No such queue", "Gone", "Odd", "Try again."}


def test_a_field_is_drawn_with_what_belongs_to_it() -> None:
    """Its hint and its error, which its control refers to; the text that was typed stays."""
    html = sent("name=toolong&reason=x")["name"].as_field_group()
    assert parse_html(html) == parse_html(
        '<label>Name<input type="text" name="name" value="toolong" maxlength="5" required aria-invalid="true"'
        ' aria-describedby="l-some-name e-some-name"></label>'
        '<p class="hint" id="l-some-name">A <b>short</b> one.</p>'
        '<p class="err" id="e-some-name" role="alert">Ensure this value has at most 5 characters (it has 7).</p>'
    )


def test_a_secret_is_not_shown_again() -> None:
    form = sent("secret=hunter2&document=hunter2")
    assert "hunter2" not in f"{form['secret']}{form['document']}"


def test_a_button_is_one_of_those_that_are_known() -> None:
    """Sent once; any other is a bad request, unless one is meant where none is sent."""
    ask = lambda text: RequestFactory().generic("POST", "/", text, "application/x-www-form-urlencoded")  # noqa: E731
    assert sent_act(ask("act=save"), ("save", "look")) == "save"
    assert sent_act(ask("act=burn"), ("save", "look"), default="look") == "look"
    for text in ("", "act=burn", "act=save&act=look"):
        with pytest.raises(BadRequest):
            sent_act(ask(text), ("save", "look"))


def _limit(holder: Any, name: str) -> int | None:
    """How long a text may be by a form, by a serializer, or by a model."""
    if issubclass(holder, forms.BaseForm):
        return holder.base_fields[name].max_length
    if issubclass(holder, serializers.Serializer):
        return next(field.max_length for field in holder().fields.values() if field.source == name)
    column = holder._meta.get_field(name)
    return column.max_length or next(one.limit_value for one in column.validators if one.code == "max_length")


@pytest.mark.parametrize(
    ("name", "holders"),
    [
        ("reason", (PauseForm, WindowForm, PauseSerializer, WindowSerializer, Pause, Window)),
        ("zone", (WindowForm, WindowSerializer, Window)),
        ("reason", (ModeForm, PreemptorForm, MappingForm, CredentialsForm, ReasonParameters)),
        ("group", (MappingForm, GroupMappingSerializer)),
        ("reason", (PublishForm, BackForm, PutParameters, Revision)),
        ("address", (ConnectForm, ClusterCredentialsRequestSerializer)),
        ("token", (ConnectForm, ClusterCredentialsRequestSerializer)),
        ("ca", (ConnectForm, ClusterCredentialsRequestSerializer)),
        ("context", (ConnectForm, ClusterCredentialsRequestSerializer)),
        ("name", (SaveFilterForm, NewSavedFilterSerializer, SavedFilter)),
        ("address", (SaveFilterForm, NewSavedFilterSerializer, SavedFilter)),
        ("name", (NewChannelForm, NewNotificationChannelSerializer, Channel)),
        ("address", (NewChannelForm, NewNotificationChannelSerializer)),
        ("secret", (NewChannelForm, NewNotificationChannelSerializer)),
    ],
)
def test_pages_and_rest_take_texts_of_the_same_length(name: str, holders: tuple[Any, ...]) -> None:
    """And the row in which it is kept."""
    assert len({_limit(holder, name) for holder in holders}) == 1
