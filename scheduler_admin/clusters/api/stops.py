"""Pauses and windows: read, put in, taken back."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, Who
from scheduler_admin.clusters.api.connections import WritingParameters
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.limits import add_window, remove_window
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body, unacceptable
from scheduler_admin.rest.fields import ClockField, UtcField
from scheduler_admin.rest.schema import PROBLEM

_FORBIDDEN = {(403, problems.MEDIA_TYPE): problems.ProblemSerializer}


class _StopSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk", read_only=True)
    cluster = serializers.CharField(source="cluster.name", allow_null=True, help_text="Null: all clusters.")
    queue = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=500, help_text="With all below it; empty: all queues."
    )
    reason = serializers.CharField(max_length=300)
    at = UtcField(read_only=True)
    by = serializers.CharField(read_only=True)


class PauseSerializer(_StopSerializer):
    """Nothing is evicted: anywhere, in a cluster, or for and from a queue."""

    until = UtcField(required=False, allow_null=True, default=None, help_text="Null: until it is taken back.")


class WindowSerializer(_StopSerializer):
    """Hours in which nothing is evicted (deny), or outside of which nothing is (allow)."""

    kind = serializers.ChoiceField(Window.Kind.choices)
    weekdays = serializers.ListField(child=serializers.ChoiceField(WEEKDAYS), help_text="On which it begins.")
    begins = ClockField()
    ends = ClockField(help_text="Not later than it begins: on the next day.")
    zone = serializers.CharField(required=False, default="UTC", max_length=64, help_text="IANA: Europe/Berlin.")
    first_day = serializers.DateField(required=False, allow_null=True, default=None)
    last_day = serializers.DateField(required=False, allow_null=True, default=None)


class PausesSerializer(serializers.Serializer[Any]):
    """All pauses, the oldest first."""

    results = PauseSerializer(many=True)


class WindowsSerializer(serializers.Serializer[Any]):
    """All windows, the oldest first."""

    results = WindowSerializer(many=True)


class _StopsView(ApiView):
    """What both share: for those who see everything."""

    def reader(self) -> Who:
        """Who asks, if they see everything. Raises Http404 for others."""
        if not self.scope.everything:
            raise Http404
        return self.request.user

    def actor(self, action: Action) -> User:
        """Who asks, if they may. Raises Http404 as ``reader``, PermissionDenied, or InsufficientScope."""
        self.reader()
        return super().actor(action)

    def place(self, given: dict[str, Any]) -> Cluster | None:
        """The cluster that a body names; takes it out of it. Raises ValidationError."""
        name = given.pop("cluster")["name"]
        if name is None:
            return None
        found = Cluster.objects.restrict(self.request.user, "view").filter(name=name).first()
        if found is None:
            raise ValidationError({"cluster": _("There is no such cluster.")})
        return found


class PausesView(_StopsView):
    """Pauses."""

    http_method_names = ["get", "head", "post", "options"]

    @extend_schema(operation_id="list_pauses", tags=["interlocks"], responses={200: PausesSerializer, **PROBLEM})
    def get(self, request: Request) -> Response:
        """Of all clusters, of single ones, of queues."""
        del request
        rows = Pause.objects.restrict(self.reader(), "view").select_related("cluster")
        return Response(PausesSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="add_pause",
        tags=["interlocks"],
        request=PauseSerializer,
        responses={201: PauseSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """Evict nothing there from now on. What is paused already stays as it is."""
        actor = self.actor("operate")
        given = read_body(PauseSerializer(data=request.data), request.data)
        try:
            cluster = self.place(given)
            pauses.pause(cluster=cluster, actor=actor, **given)
        except ValidationError as error:
            raise unacceptable(error) from None
        return Response(PauseSerializer(Pause.objects.of(cluster, given["queue"]).get()).data, status=201)


class WindowsView(_StopsView):
    """Windows."""

    http_method_names = ["get", "head", "post", "options"]

    @extend_schema(operation_id="list_windows", tags=["interlocks"], responses={200: WindowsSerializer, **PROBLEM})
    def get(self, request: Request) -> Response:
        """Of all clusters, of single ones, of queues."""
        del request
        rows = Window.objects.restrict(self.reader(), "view").select_related("cluster")
        return Response(WindowsSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="add_window",
        tags=["interlocks"],
        request=WindowSerializer,
        responses={201: WindowSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """Deny or allow evictions by the clock."""
        actor = self.actor("configure")
        given = read_body(WindowSerializer(data=request.data), request.data)
        try:
            made = add_window(cluster=self.place(given), actor=actor, **given)
        except ValidationError as error:
            raise unacceptable(error) from None
        return Response(WindowSerializer(made).data, status=201)


class _StopView(_StopsView):
    http_method_names = ["delete", "options"]

    def parameters_of(self, request: Request) -> type[serializers.Serializer[Any]]:
        """Only what writes has any."""
        return WritingParameters if request.method == "DELETE" else super().parameters_of(request)


class PauseView(_StopView):
    """One pause."""

    @extend_schema(
        operation_id="delete_pause",
        tags=["interlocks"],
        parameters=[WritingParameters],
        responses={204: None, **_FORBIDDEN, **PROBLEM},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """It ends; others may still hold."""
        actor = self.actor("operate")
        found = get_object_or_404(Pause.objects.restrict(request.user, "view"), pk=pk)
        pauses.resume(cluster=found.cluster, queue=found.queue, actor=actor, reason=self.asked["reason"])
        return Response(status=204)


class WindowView(_StopView):
    """One window."""

    @extend_schema(
        operation_id="delete_window",
        tags=["interlocks"],
        parameters=[WritingParameters],
        responses={204: None, **_FORBIDDEN, **PROBLEM},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """It holds no longer."""
        actor = self.actor("configure")
        found = get_object_or_404(Window.objects.restrict(request.user, "view"), pk=pk)
        remove_window(window=found, actor=actor, reason=self.asked["reason"])
        return Response(status=204)
