"""What a webhook receives is what the libraries of Standard Webhooks and of CloudEvents take."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import WebhookVerificationError

from scheduler_admin.clusters.connections.sealing import seal
from scheduler_admin.notifications.models import Channel
from scheduler_admin.notifications.selectors import tag
from scheduler_admin.notifications.services import change_channel
from tests.notifications.conftest import NOON
from tests.notifications.receiver import SECRET, Receiver
from tests.notifications.test_sending import send, write

pytestmark = pytest.mark.django_db


def test_a_signature_is_of_its_id_its_time_and_its_body(channel: Channel, receiver: Receiver) -> None:
    """So the test above can fail."""
    write(channel)
    send()
    headers, body = receiver.got[0]
    other = {"webhook-timestamp": "1"}, {"webhook-id": "another"}
    for changed in (*((headers | each, body) for each in other), (headers, body + b" ")):
        receiver.got[0] = changed
        with pytest.raises(WebhookVerificationError, match="No matching signature"):
            receiver.verified()


def test_a_webhook_gets_a_cloudevent_where_it_asks_for_one(
    add: Callable[..., Channel], receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """In structured mode, as the library of CloudEvents reads it; signed all the same."""
    row = write(add(receiver.url, payload_format="cloudevents"))
    send()
    (raw,), ((headers, _raw),) = receiver.verified(), receiver.got
    assert headers["Content-Type"] == "application/cloudevents+json"
    event = from_http_event(HTTPMessage(headers=headers, body=raw))
    assert (event.get_specversion(), event.get_id()) == ("1.0", str(row.guid))
    assert (event.get_source(), event.get_type()) == ("http://127.0.0.1:8000", "io.scheduler-admin.below-guarantee")
    assert (event.get_time(), event.get_datacontenttype()) == (NOON, "application/json")
    data = {"tenant": "red", "text": "Etl <goes> & comes. Why.", "url": "http://site/pods/", "number": 1}
    assert event.get_data() == data


def test_both_secrets_sign_for_a_day_after_one_replaced_the_other(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """So that a receiver can change to the new one at any time."""
    fresh = "whsec_" + base64.b64encode(b"another key of some length").decode()
    change_channel(channel=channel, secret=fresh, values={}, seen=tag(channel), actor=None)
    write(channel)
    send()
    assert receiver.verified(fresh) == receiver.verified(SECRET)
    clock.shift(timedelta(days=1, seconds=1))
    write(channel, 2)
    send()
    assert len(receiver.verified(fresh)) == 2
    with pytest.raises(WebhookVerificationError):
        receiver.verified(SECRET)


def test_a_secret_of_before_is_itself_the_key(channel: Channel, receiver: Receiver) -> None:
    """Its receiver writes it in base64 behind whsec_."""
    former = "canarysecret-that-signs"
    channel.sealed = seal(json.dumps({"address": receiver.url, "secret": former}))
    channel.save()
    write(channel)
    send()
    assert len(receiver.verified("whsec_" + base64.b64encode(former.encode()).decode())) == 1
