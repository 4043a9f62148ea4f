"""What happens in a cluster, as it happens: a stream of server-sent events."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user
from django.http import StreamingHttpResponse
from django.utils.http import urlencode
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.cloud_events import BATCH_MEDIA_TYPE, cloud_event
from scheduler_admin.core.counters import who_is
from scheduler_admin.core.links import history_url
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.api.event_serializers import EVENT, MISSED, CloudEventSerializer
from scheduler_admin.decisions.api.seen import seen, seen_by
from scheduler_admin.decisions.api.serializers import DecisionSerializer
from scheduler_admin.decisions.models import Happening
from scheduler_admin.decisions.presenters.happenings import happening_told
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.services import events
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.media import JsonRenderer
from scheduler_admin.rest.streams import seats
from scheduler_admin.rest.streams.events import MEDIA_TYPE, Piece, Stream, event

LONGEST_S = 300
"""After so many seconds a stream ends, and its reader connects anew."""
_AT_ONCE = 100
_HIGHEST = 10**18 - 1
_OF_DECISIONS = {Happening.Kind.DECISION, Happening.Kind.ENDED}
_NO_DECISION: dict[str, Any] = {"sentence": None, "url": None, "decision": None}
"""Of an event whose decision is no longer there, or no longer to be seen."""


class _News(NamedTuple):
    """An event as its reader sees it, or nothing but the number up to which everything was read."""

    number: int
    kind: str = ""
    body: dict[str, Any] | None = None


class EventParameters(serializers.Serializer[Any]):
    """Which events, and for how long."""

    cluster = serializers.CharField(max_length=limits.CLUSTER_NAME, help_text="Name of the cluster.")
    after = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=_HIGHEST,
        help_text="Number of the last event that you have; without it, the stream starts with new events.",
    )
    timeout_seconds = serializers.IntegerField(
        required=False,
        default=LONGEST_S,
        min_value=0,
        max_value=LONGEST_S,
        help_text="How long the stream stays open; with 0 it ends after the events that there are.",
    )


class CloudEventsRenderer(JsonRenderer):
    """Lets a reader ask for the events that there are as CloudEvents."""

    media_type = BATCH_MEDIA_TYPE
    format = "cloudevents"


class EventStreamRenderer(JsonRenderer):
    """Lets a reader ask for a stream; what is rendered by it are errors."""

    media_type = MEDIA_TYPE
    format = "stream"


class EventsView(ApiView):
    """The events of a cluster."""

    actions = {"GET": "view"}
    tag = "events"

    queries = {"GET": EventParameters}
    renderer_classes = [JsonRenderer, EventStreamRenderer, CloudEventsRenderer]

    @extend_schema(
        operation_id="stream_events",
        parameters=[
            OpenApiParameter(
                "Last-Event-ID",
                OpenApiTypes.INT,
                OpenApiParameter.HEADER,
                description=(
                    "As `after`, and used instead of it if both are sent. Browsers send it when they reconnect."
                ),
            ),
        ],
        responses={
            (200, MEDIA_TYPE): EVENT,
            (200, BATCH_MEDIA_TYPE): CloudEventSerializer(many=True),
        },
    )
    def get(self, request: Request) -> Response | StreamingHttpResponse:
        """Decisions, refused evictions, repeated preemptions, preemption loops and unmet guarantees, in order.

        As CloudEvents you get at most a hundred that exist now, and in `Link` the address of the next ones.
        """
        cluster, after = self.cluster(self.asked["cluster"]), self._after()
        if request.accepted_renderer.media_type == BATCH_MEDIA_TYPE:
            return self._batch(cluster, after)
        seat = seats.take(who_is(request))
        newest = events.newest(cluster.pk)
        begin = newest if after is None else min(after, newest)
        stream = Stream(seat, begin, self.asked["timeout_seconds"], partial(self._pieces, cluster, get_language()))
        response = StreamingHttpResponse(stream, content_type=MEDIA_TYPE)
        response["X-Accel-Buffering"] = "no"  # a proxy would keep events until it has many
        return response

    def _after(self) -> int | None:
        given = self.request.headers.get("Last-Event-ID")
        if given is None:
            after: int | None = self.asked.get("after")
            return after
        if not re.fullmatch(r"[0-9]{1,18}", given):
            raise problems.WrongHeader(
                "Last-Event-ID", _("This is not a valid event number. Use the number of an event that you received.")
            )
        return int(given)

    def _batch(self, cluster: Cluster, after: int | None) -> Response:
        """The next events as CloudEvents; each has its number as its ID."""
        source, found = f"{settings.SITE_URL}/clusters/{cluster.name}", []
        reached = events.newest(cluster.pk) if after is None else after
        for one in self._news(cluster, get_language(), reached):
            reached = one.number
            if one.body:
                at = one.body.get("occurred_at")
                made = cloud_event(number=str(one.number), source=source, kind=one.kind, at=at, data=one.body)
                found.append(made)
            if len(found) == _AT_ONCE:
                break
        rest = urlencode({"cluster": cluster.name, "after": str(reached)})
        return Response(found, headers={"Link": f'<{self.request.path}?{rest}>; rel="next"'})

    def _pieces(self, cluster: Cluster, language: str, after: int) -> Iterator[Piece]:
        """The same for a stream."""
        for one in self._news(cluster, language, after):
            yield Piece(one.number, event(one.kind, one.number, one.body) if one.body else "")

    def _news(self, cluster: Cluster, language: str, after: int) -> Iterator[_News]:
        """What happened since, as far as who asks may see it by now; nothing more where they may sign in no longer."""
        newest = events.newest(cluster.pk)
        if newest <= after:
            return
        user = self._asker()
        oldest = events.oldest(cluster.pk)
        if oldest is None or oldest > after + 1:
            after = newest if oldest is None else oldest - 1
            with override(language):
                yield _News(after, MISSED, _missed(cluster.name, after))
        while after < newest:
            rows = events.between(user, cluster.pk, after, newest, _AT_ONCE)
            with override(language):  # whoever draws from the stream may have another
                bodies = _bodies(cluster.name, rows, user)
            for row, body in zip(rows, bodies, strict=True):
                yield _News(row.number, row.kind, body)
            after = rows[-1].number if len(rows) == _AT_ONCE else newest
            yield _News(after)

    def _asker(self) -> User:
        """Who asks, signed in anew: what they lost meanwhile is theirs no longer. Raises Unwelcome."""
        plain = self.request._request  # noqa: SLF001 - DRF offers no other way to what it wraps
        plain.user = get_user(plain)
        try:
            user = self.initialize_request(plain).user
        except APIException:
            raise seats.UnwelcomeError from None
        if not isinstance(user, User):
            raise seats.UnwelcomeError
        return user


def _missed(cluster: str, until: int) -> dict[str, Any]:
    sentence = _("Events up to number %(number)s are no longer stored.") % {"number": until}
    return {"id": until, "event": MISSED, "sentence": sentence, "url": history_url(cluster), "until": until}


def _bodies(cluster: str, rows: Sequence[Happening], user: User) -> list[dict[str, Any]]:
    redaction = Redaction.of(scope_of(user, "view"))
    wanted = {row.decision_id for row in rows if row.kind in _OF_DECISIONS and row.decision_id is not None}
    found = seen_by(user).filter(pk__in=wanted).defer("laws") if wanted else ()
    written = DecisionSerializer().to_representation
    decisions = {
        one.decision.pk: {"sentence": one.sentence, "url": one.url, "decision": written(one)}
        for one in seen(found, user)
    }

    def body(row: Happening) -> dict[str, Any]:
        if row.kind in _OF_DECISIONS:
            return decisions.get(row.decision_id or 0, _NO_DECISION)
        return _body(cluster, row, redaction)

    return [{**_head(row), **body(row)} for row in rows]


def _head(row: Happening) -> dict[str, Any]:
    return {"id": row.number, "event": row.kind, "occurred_at": UtcField().to_representation(row.at)}


def _body(cluster: str, row: Happening, redaction: Redaction) -> dict[str, Any]:
    said, url = happening_told(cluster, row, redaction)
    return {"sentence": text(said), "url": url, **_facts(row, redaction)}


def _facts(row: Happening, redaction: Redaction) -> dict[str, Any]:
    """What people and API servers wrote in words is for those who see everything."""
    if row.kind == Happening.Kind.BELOW:
        return dict(row.facts)
    if row.kind == Happening.Kind.LOOP:
        return redaction.loop(row.turns).facts
    assert row.victim is not None
    body = {"decision_id": row.decision_id, "namespace": row.victim.namespace, "queue": row.victim.queue}
    if row.kind == Happening.Kind.REFUSED:
        message = row.facts["note"] if redaction.scope.everything else None
        return {**body, "pod": row.victim.name, "message": message}
    return {**body, "application": row.victim.application, "preemptions_24h": row.facts["times"]}
