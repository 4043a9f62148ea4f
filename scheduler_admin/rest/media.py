"""The media types of trees and snapshots: bodies are taken in whole, so that reading tells every error at its place."""

import json
from typing import IO, Any, NamedTuple

import msgspec
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from engine.formats.registry import LARGEST
from scheduler_admin.journal.services.snapshots import MOST_BYTES
from scheduler_admin.rest import problems
from scheduler_admin.rest.bodies import read_body

OWN_FORM = "application/json"
YUNIKORN = "application/yaml"
ZIP = "application/zip"


class JsonRenderer(JSONRenderer):
    """JSON in an eighth of the time, and without the list of all of its words: that is larger than a long answer."""

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the JSON; what only Django knows how to write, and what is to be indented, is written by Django."""
        if data is not None and self.get_indent(accepted_media_type or "", renderer_context or {}) is None:
            try:
                return msgspec.json.encode(data)
            except TypeError:
                pass
        return bytes(super().render(data, accepted_media_type, renderer_context))


class DocumentTextSerializer(serializers.Serializer[Any]):
    """A document as a text in JSON, for clients that send no other media type."""

    text = serializers.CharField(
        trim_whitespace=False, help_text="The document in YAML, in one of the formats of `format`."
    )


class Body(NamedTuple):
    """What was sent, unread."""

    media_type: str
    raw: bytes


class OwnFormParser(BaseParser):
    """Our own form."""

    media_type = OWN_FORM

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """The Body as it is. Raises TooLarge."""
        del media_type, parser_context
        raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise problems.too_large(LARGEST)
        return Body(str(self.media_type), raw)


class YuniKornParser(OwnFormParser):
    """A queues.yaml."""

    media_type = YUNIKORN


class ZipParser(BaseParser):
    """A saved snapshot as it was downloaded."""

    media_type = ZIP

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """The Body as it is, with one byte more than may be where it is too large."""
        del media_type, parser_context
        return Body(str(self.media_type), stream.read(MOST_BYTES + 1))


class ManifestsParser(ZipParser):
    """Objects as kubectl writes them in JSON."""

    media_type = OWN_FORM


class ZipRenderer(BaseRenderer):
    """Hands a zip on as it is; errors, which are none, are JSON."""

    media_type = ZIP
    format = "zip"
    charset = None
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """As it is."""
        return (
            data
            if isinstance(data, bytes)
            else bytes(JsonRenderer().render(data, accepted_media_type, renderer_context))
        )


class YuniKornRenderer(BaseRenderer):
    """Hands a queues.yaml on as it is; errors, which are no documents, are JSON."""

    media_type = YUNIKORN
    format = "yaml"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """As UTF-8."""
        if isinstance(data, str):
            return data.encode()
        return bytes(JsonRenderer().render(data, accepted_media_type, renderer_context))


class SvgRenderer(YuniKornRenderer):
    """Hands a drawing on as it is."""

    media_type = "image/svg+xml"
    format = "svg"


def body_of(request: Request) -> Body:
    """What was sent. Raises UnsupportedMediaType with what could have been, Unreadable for nothing, TooLarge."""
    try:
        body = request.data
    except UnsupportedMediaType as error:
        said = _("Set Content-Type to application/yaml or application/json.")
        raise UnsupportedMediaType(request.content_type, detail=said) from error
    if not isinstance(body, Body):  # what the framework makes of no body at all
        raise problems.Unreadable([{"detail": _("The request body is empty.")}])
    return _text_inside(body) if body.media_type == OWN_FORM else body


def _text_inside(body: Body) -> Body:
    """Return the document that is the ``text`` of an object in JSON; every other body as it is.

    Raises Unacceptable where the text is none, or something stands beside it.
    """
    try:
        sent = json.loads(body.raw) if b'"text"' in body.raw else None
    except (ValueError, RecursionError):
        return body  # which reading it says
    if not isinstance(sent, dict) or "text" not in sent:
        return body
    return Body(YUNIKORN, read_body(DocumentTextSerializer(data=sent), sent)["text"].encode())
