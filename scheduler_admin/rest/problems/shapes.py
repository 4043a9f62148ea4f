"""Problem details as they are sent."""

from typing import Any

from rest_framework import serializers


class ErrorSerializer(serializers.Serializer[dict[str, Any]]):
    """An error with its place."""

    detail = serializers.CharField(help_text="What is wrong, in one sentence.")
    parameter = serializers.CharField(
        required=False, help_text="Name of the query parameter; missing if the error is elsewhere."
    )
    header = serializers.CharField(required=False, help_text="Name of the header; missing if the error is elsewhere.")
    pointer = serializers.CharField(
        required=False, help_text="JSON pointer (RFC 6901) into the request body, such as `/queues/3/max/memory`."
    )
    line = serializers.IntegerField(required=False, help_text="Line of the document, starting at 1.")
    queue = serializers.CharField(required=False, help_text="Path of the queue that the error concerns.")
    remedy = serializers.CharField(required=False, help_text="How to fix the error.")
    cluster = serializers.CharField(required=False, help_text="Name of the cluster that the error concerns.")


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    """Problem details, RFC 9457."""

    type = serializers.CharField(
        help_text="URI of the kind of problem, which never changes, such as `urn:scheduler-admin:problem:not-found`."
    )
    title = serializers.CharField(help_text="Text of the HTTP status.")
    status = serializers.IntegerField(help_text="HTTP status code.")
    detail = serializers.CharField(help_text="What went wrong, in one sentence.")
    errors = ErrorSerializer(  # type: ignore[assignment]  # DRF takes declared fields off the class
        many=True, required=False, help_text="All errors in the query or the document."
    )
