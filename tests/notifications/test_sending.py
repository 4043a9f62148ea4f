"""The outbox is emptied in order, at least once and no faster than agreed; what does not arrive is tried again."""

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from email.utils import parseaddr
from smtplib import SMTPAuthenticationError, SMTPRecipientsRefused
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone
from django.utils.translation import gettext as _

from scheduler_admin.notifications.delivery import send as sending
from scheduler_admin.notifications.delivery.own_messages import summed_up
from scheduler_admin.notifications.delivery.send import GIVEN_UP, PER_MINUTE, send_again, send_due, send_test
from scheduler_admin.notifications.delivery.webhook import UndeliveredError
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.outbox import SETTLING, Telling, Told, tell
from scheduler_admin.notifications.tasks import send_notifications
from tests.notifications.receiver import Receiver

pytestmark = pytest.mark.django_db


def write(channel: Channel, number: int = 1, line: str = "Etl <goes> & comes.") -> Notification:
    """A message in the outbox, due at once."""
    say = lambda _pods: Told(lines=[line, "Why."], link="http://site/pods/", facts={"number": number})  # noqa: E731
    about = f"east root.red.{number}"
    telling = Telling(channel=channel, event=Notification.Event.BELOW, about=about, part="", say=say)
    (made,) = tell([telling], timezone.now())
    return made


def send() -> int:
    """What the housekeeping worker does again and again."""
    return send_due(now=timezone.now())


def bodies(receiver: Receiver) -> list[Any]:
    """What was received, each found to be signed."""
    return [json.loads(body) for body in receiver.verified()]


def test_a_webhook_gets_the_facts_the_sentences_and_a_signature(channel: Channel, receiver: Receiver) -> None:
    """The id is in a header and under the signature."""
    row = write(channel)
    send_notifications()
    (body,), ((headers, _raw),) = bodies(receiver), receiver.got
    assert body == {
        "type": "below-guarantee",
        "timestamp": "2026-01-05T12:00:00+00:00",
        "data": {"tenant": "red", "text": "Etl <goes> & comes. Why.", "url": "http://site/pods/", "number": 1},
    }
    assert (headers["webhook-id"], headers["Content-Type"]) == (str(row.guid), "application/json")
    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("sent", 1, "")
    assert send() == 0


def test_slack_gets_text_and_blocks(add: Callable[..., Channel], receiver: Receiver) -> None:
    """With what means something to Slack escaped."""
    write(add(receiver.url, "slack"))
    send()
    ((headers, raw),) = receiver.got
    body = json.loads(raw)
    assert body["text"] == "Etl &lt;goes&gt; &amp; comes."
    assert [block["text"]["text"] for block in body["blocks"]] == [
        "*Etl &lt;goes&gt; &amp; comes.*",
        "Why.",
        "<http://site/pods/|Read more>",
    ]
    assert "webhook-signature" not in headers


def test_a_mail_says_it_with_its_id(add: Callable[..., Channel], clock: time_machine.Traveller) -> None:
    """A second copy has the same Message-ID; no line of it becomes a header."""
    row = write(add("red@example.com", "email"), line="Etl goes.\nBcc: others@example.com")
    send()
    (sent,) = mail.outbox
    assert (sent.to, sent.bcc, sent.subject) == (["red@example.com"], [], "Etl goes. Bcc: others@example.com")
    assert parseaddr(sent.extra_headers["Message-ID"])[1].startswith(str(row.guid))
    assert sent.body.endswith("Why.\n\nhttp://site/pods/")


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ConnectionRefusedError(), "The mail server could not be reached or did not respond in time."),
        (SMTPAuthenticationError(535, b"canarysecret"), "The mail server responded with 535."),
        (SMTPRecipientsRefused({}), "The mail server does not accept mail for this address."),
    ],
)
def test_a_mail_server_that_fails_is_tried_again(
    add: Callable[..., Channel], monkeypatch: pytest.MonkeyPatch, failure: Exception, said: str
) -> None:
    """As everything else; what it says is not quoted."""
    row = write(add("red@example.com", "email"))

    def refused(*_args: Any) -> None:
        raise failure

    monkeypatch.setattr(EmailBackend, "send_messages", refused)
    send()
    row.refresh_from_db()
    assert (row.state, row.error) == ("waiting", said)


def test_what_does_not_arrive_is_tried_again_later_and_later(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """10 s, 20 s, 40 s and so on to an hour; given up after a day. Always the same message."""
    row = write(channel)
    receiver.answers = [500] * 100
    waits = []
    while row.state == "waiting":
        assert send() == 1
        row.refresh_from_db()
        waits.append((row.due_at - timezone.now()).total_seconds())
        clock.move_to(row.due_at - timedelta(seconds=1))
        assert send() == 0
        clock.move_to(row.due_at)
        row.refresh_from_db()
    assert timezone.now() - row.created_at >= GIVEN_UP
    assert waits[:9] == [10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    assert set(waits[9:]) == {3600}
    assert (row.state, row.error) == ("failed", "127.0.0.1 responded with 500.")
    assert {body for _headers, body in receiver.got} == {receiver.got[0][1]}
    assert {headers["webhook-id"] for headers, _body in receiver.got} == {str(row.guid)}


def test_while_a_message_waits_for_its_next_try_the_others_do_too(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """In order, and a receiver that is away is asked once; other channels go on."""
    for number in (1, 2):
        write(channel, number)
    receiver.answers = [503]
    assert send() == 1
    clock.shift(9)
    assert send() == 0
    clock.shift(1)
    assert (send(), send()) == (1, 1)
    assert [body["data"]["number"] for body in bodies(receiver)] == [1, 1, 2]


def test_what_the_receiver_never_takes_is_given_up_at_once(channel: Channel, receiver: Receiver) -> None:
    """It holds up nobody."""
    row = write(channel)
    receiver.answers = [422]
    send()
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "127.0.0.1 responded with 422.")


def test_who_dies_after_sending_sends_it_again(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same id: the receiver can tell. Not before it is clear that nobody else is at it."""
    write(channel)

    def dies(*_args: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(sending, "_note", dies)
        with pytest.raises(SystemExit):
            send()
    clock.shift(60)
    assert send() == 0
    clock.shift(61)
    assert send() == 1
    first, second = bodies(receiver)
    assert first == second
    assert Notification.objects.get().state == "sent"


def test_two_workers_do_not_send_the_same(channel: Channel, receiver: Receiver) -> None:
    """Who takes it up second finds it taken."""
    row = write(channel)
    seen = Notification.objects.get()
    assert sending._claim(seen, timezone.now())
    assert sending._claim(row, timezone.now()) is None


def test_two_workers_do_not_sum_up_the_same(channel: Channel) -> None:
    """Who comes second has nothing left to sum up."""
    waiting = [write(channel, number) for number in range(3)]
    assert [row.event for row in summed_up(channel, waiting, 1, timezone.now())] == ["summary"]
    assert summed_up(channel, waiting, 1, timezone.now()) == waiting
    assert Notification.objects.filter(event="summary").count() == 1


def test_a_channel_that_is_removed_while_it_is_spoken_to_holds_up_no_other(
    add: Callable[..., Channel], receiver: Receiver, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the others were sent is known to be sent: there is no second copy."""
    gone, stays = add(receiver.url), add(receiver.url)
    write(gone)
    row = write(stays)
    deliver = sending._deliver

    def delivered(rows: list[Notification]) -> Any:
        ended = deliver(rows)
        gone.delete()
        return ended

    monkeypatch.setattr(sending, "_deliver", delivered)
    assert send() == 2
    row.refresh_from_db()
    assert row.state == "sent"


def test_who_comes_back_too_late_changes_nothing(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """The message is another worker's by then."""
    slow = sending._claim(write(channel), timezone.now())
    assert slow is not None
    clock.shift(121)
    assert send() == 1
    sending._note(slow, UndeliveredError("Too slow."), timezone.now())
    assert Notification.objects.get().state == "sent"


def test_slow_receivers_hold_up_a_few_channels_at_a_time(
    add: Callable[..., Channel], receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """Those that wait longest go first, so that everybody's turn comes."""
    for number in range(10):
        write(add(receiver.url), number)
        clock.shift(1)
    assert (send(), send(), send()) == (8, 2, 0)
    assert sorted(body["data"]["number"] for body in bodies(receiver)[:8]) == list(range(8))


def test_more_than_fits_a_minute_is_summed_up_in_one(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """Nothing is lost: the summary has the headline of each."""
    for number in range(30):
        write(channel, number, line=f"Headline {number}.")
    for _run in range(20):
        send()
    *single, summary = bodies(receiver)
    assert [body["data"]["number"] for body in single] == list(range(PER_MINUTE - 1))
    assert summary["type"] == "summary"
    assert summary["data"]["notifications"] == [f"Headline {number}." for number in range(PER_MINUTE - 1, 30)]
    assert summary["data"]["events"] == {"below-guarantee": 21}
    assert summary["data"]["text"].startswith("21 more notifications: Headline 9.")
    assert summary["data"]["text"].endswith("Headline 28. And 1 more.")
    assert set(Notification.objects.values_list("state", flat=True)) == {"sent", "summarized"}


def test_in_no_minute_a_channel_gets_more_than_agreed(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """However many come, and whatever the receiver answers; in the end every headline has arrived."""
    tried, written = [], 0
    receiver.answers = [200, 503, 503, 200, 503, 503, 503] * 5
    for step in range(300):
        for _more in range(3 if step < 60 else 0):
            write(channel, written, line=f"Headline {written}.")
            written += 1
        while send():
            tried.append(timezone.now())
        clock.shift(5)
    for at in tried:
        assert sum(at <= other < at + timedelta(minutes=1) for other in tried) <= PER_MINUTE
    once = {headers["webhook-id"]: json.loads(body)["data"] for headers, body in receiver.got}.values()
    arrived = [line for data in once for line in data.get("notifications", [data["text"][: -len(" Why.")]])]
    assert arrived == [f"Headline {number}." for number in range(written)]
    assert len(once) < len(receiver.got)


def test_what_is_due_is_sent_at_once(channel: Channel, receiver: Receiver) -> None:
    """One task sends as much as there is room for."""
    for number in range(5):
        write(channel, number)
    send_notifications()
    assert [body["data"]["number"] for body in bodies(receiver)] == list(range(5))


def test_a_channel_that_is_turned_off_is_not_spoken_to(channel: Channel, receiver: Receiver) -> None:
    """And goes on where it is turned on again within a day."""
    write(channel)
    Channel.objects.update(enabled=False)
    assert send() == 0
    Channel.objects.update(enabled=True)
    assert send() == 1


def test_pods_that_go_one_after_the_other_are_told_of_together(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """A message waits a moment for what belongs to it; of what was told there is no second."""

    def told(*pods: str) -> Notification | None:
        telling = Telling(
            channel=channel,
            event=Notification.Event.PREEMPTED,
            about="east red/etl",
            part="7",
            pods=frozenset(pods),
            say=lambda new: Told(lines=[_("Pods: ") + " ".join(sorted(new))], link="http://site/"),
        )
        return next(iter(tell([telling], timezone.now())), None)

    first, second = told("a"), told("a", "b")
    assert first == second
    assert (told("a", "b"), send()) == (None, 0)
    clock.shift(SETTLING)
    assert send() == 1
    third = told("a", "b", "c")
    assert third is not None
    clock.shift(SETTLING)
    send()
    assert [body["data"]["text"] for body in bodies(receiver)] == ["Pods: a b", "Pods: c"]


def test_a_test_message_tells_what_went_wrong(channel: Channel, receiver: Receiver) -> None:
    """At once, and it is not tried again."""
    receiver.answers = [403]
    assert (send_test(channel=channel).error, send_test(channel=channel).state) == (
        "127.0.0.1 responded with 403.",
        "sent",
    )
    assert (send(), [body["type"] for body in bodies(receiver)]) == (0, ["test", "test"])
    for _again in range(PER_MINUTE - 2):
        send_test(channel=channel)
    with pytest.raises(UndeliveredError, match="10 messages in the last minute"):
        send_test(channel=channel)


def dead(channel: Channel, receiver: Receiver) -> Notification:
    """A message that the receiver would not take."""
    receiver.answers = [422]
    row = write(channel)
    send()
    row.refresh_from_db()
    assert row.state == Notification.State.FAILED
    return row


def test_what_was_given_up_is_sent_again_as_it_was(
    channel: Channel, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """Also long after, with the id by which the receiver knows it."""
    row = dead(channel, receiver)
    clock.shift(timedelta(days=3))
    assert send_again(row=row).state == Notification.State.SENT
    first, second = receiver.verified()
    assert first == second


def test_what_fails_again_is_given_up_again(channel: Channel, receiver: Receiver) -> None:
    """By hand it is tried once, and can be another time."""
    row = dead(channel, receiver)
    receiver.answers = [422]
    again = send_again(row=row)
    assert (again.state, again.attempts, again.error) == ("failed", 2, "127.0.0.1 responded with 422.")
    assert send() == 0
    assert send_again(row=again).state == Notification.State.SENT


def test_two_people_do_not_send_the_same_again(channel: Channel, receiver: Receiver) -> None:
    """Who comes second is told, and nothing is sent."""
    row = dead(channel, receiver)
    send_again(row=row)
    with pytest.raises(UndeliveredError, match="Someone else"):
        send_again(row=row)
    assert len(receiver.got) == 2


def test_tests_hold_two_threads_at_most(channel: Channel, receiver: Receiver) -> None:
    """Pages are answered however many are tried at once; then nothing is sent, and the next works again."""
    with sending._testing, sending._testing, pytest.raises(UndeliveredError, match="in a moment"):
        send_test(channel=channel)
    assert receiver.got == []
    assert send_test(channel=channel).state == "sent"


def test_no_secret_of_a_webhook_is_in_a_log_or_a_row(
    channel: Channel, receiver: Receiver, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong."""
    caplog.set_level(logging.DEBUG)

    def breaks(url: str, *_rest: Any) -> None:
        raise RuntimeError(url)

    write(channel)
    send()
    monkeypatch.setattr(sending, "post", breaks)
    write(channel, 2)
    send()
    assert Notification.objects.get(state="waiting").error == "The message could not be sent: RuntimeError."
    told = [str(vars(row)) for model in (Channel, Notification) for row in model.objects.all()]
    assert "canarysecret" not in "".join([caplog.text, *told])


def test_without_its_key_nothing_is_sent_and_why_is_said(channel: Channel, receiver: Receiver, settings: Any) -> None:
    """It goes on once the key is there again."""
    row = write(channel)
    keys, settings.CREDENTIALS_KEYS = settings.CREDENTIALS_KEYS, []
    send()
    row.refresh_from_db()
    assert "CREDENTIALS_KEY" in row.error
    assert row.state == "waiting"
    settings.CREDENTIALS_KEYS = keys
    send_due(now=timezone.now() + timedelta(minutes=1))
    assert len(receiver.got) == 1
