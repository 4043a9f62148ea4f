"""The PriorityClasses of a cluster: read as the last pass found them, made, changed and deleted."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.kubernetes.convert import NEVER
from engine.formats.kubernetes.priority_classes import with_preemption_annotations
from engine.model.objects import PriorityClass
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.priority_classes.api.serializers import (
    PriorityClassesSerializer,
    PriorityClassRequestSerializer,
    PriorityClassSerializer,
    PriorityClassUpdateSerializer,
)
from scheduler_admin.priority_classes.selectors import Picture, Row, picture
from scheduler_admin.priority_classes.services import OvertakenError, change_class, create_class, delete_class
from scheduler_admin.rest import problems
from scheduler_admin.rest.converters import OBJECT
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Changed, Created, Destroyed, InCluster


class PriorityClassViewSet(Created, Changed, Destroyed, InCluster, Tagged):
    """All priority classes of a cluster with their usage, and the ResourceQuotas that select by class."""

    actions = {"GET": "view", "POST": "classify", "PATCH": "classify", "DELETE": "classify"}
    queries = {"POST": ReasonParameters, "PATCH": ReasonParameters, "DELETE": ReasonParameters}
    staff_only = True
    tag = "priority classes"
    etag_description = "ETag of the class."
    if_match_description = "ETag of the class as you read it."
    resource = "priority_class", "priority_classes"
    serializer_class = PriorityClassSerializer
    list_class = PriorityClassesSerializer
    lookup_field = "priority_class"
    lookup_value_converter = OBJECT

    def get_body_class(self) -> type[serializers.Serializer[Any]]:
        """Return what is sent for the action."""
        return PriorityClassRequestSerializer if self.action == "create" else PriorityClassUpdateSerializer

    def handle_exception(self, exc: Exception) -> Response:
        """Answer with a problem: for a class that others changed in the cluster meanwhile, with its ETag."""
        if isinstance(exc, OvertakenError):
            exc = problems.Overtaken(_version(exc.now) if exc.now else None)
        return super().handle_exception(exc)

    def get_object(self) -> Row:
        """Return the class that the address names. Raises Http404."""
        return self.get_class(self.kwargs["priority_class"])

    def key_of(self, row: Row) -> str:
        """Return the name of the class."""
        return row.one.name

    def get_class(self, name: str) -> Row:
        """Return a class as the cluster has it now. Raises Http404."""
        row = self._picture().find(name)
        if row is None:
            raise Http404
        return row

    def _picture(self) -> Picture:
        """Return what is known of the cluster's classes now. Raises Http404 before a pass has read them."""
        found = picture(self.cluster(self.kwargs["name"]))
        if found is None:
            raise Http404
        return found

    def list(self, request: Request, **_place: Any) -> Response:
        """Return all classes, with who has which, and the quotas that go by them."""
        del request
        status, found = status_of(self.named_cluster), picture(self.named_cluster)
        if found is None:
            raise Http404
        body = {
            "results": found.rows,
            "pods_without_class": found.unnamed,
            "deleted_classes": found.gone,
            "resource_quotas": found.quotas,
            "resource_quotas_error": found.quotas_error,
            "read_at": status.read_at if status else None,
        }
        return Response(self.list_class(body).data)

    def retrieve(self, request: Request, **place: Any) -> Response:
        """A priority class as last read or written. The ETag covers the class, not its usage."""
        return super().retrieve(request, **place)

    def make(self, given: dict[str, Any]) -> Row:
        """Create a class in the cluster. For admins, with a token of the scope cluster:classes."""
        never = given.get("preemption_policy") == NEVER
        wanted = _merged(PriorityClass(name=given["name"], value=given["value"], never_preempts=never), given)
        made = create_class(cluster=self.named_cluster, wanted=wanted, actor=self.user, reason=self.asked["reason"])
        return self.get_class(made.name)

    def change(self, row: Row, given: dict[str, Any]) -> Row:
        """Change the members that are sent, if the class is unchanged since you read it."""
        change_class(
            cluster=self.named_cluster,
            before=row.one,
            after=_merged(row.one, given),
            actor=self.user,
            reason=self.asked["reason"],
        )
        return self.get_object()

    def remove(self, row: Row) -> None:
        """Delete the class. Existing pods keep it; new pods that name it are rejected."""
        delete_class(cluster=self.named_cluster, before=row.one, actor=self.user, reason=self.asked["reason"])

    def tag_of(self, found: Row) -> str:
        """Return the ETag of the class itself: who has it changes all the time."""
        return _version(found.one)


def _merged(one: PriorityClass, given: dict[str, Any]) -> PriorityClass:
    """The class with what a body says of it."""
    plain = {name: given[name] for name in ("description", "global_default") if name in given}
    pairs = {name: _pairs(getattr(one, name), given[name]) for name in ("labels", "annotations") if name in given}
    after = msgspec.structs.replace(one, **plain, **pairs)
    allowed = given.get("allow_preemption")
    return with_preemption_annotations(
        after, opted_out=None if allowed is None else not allowed, may_preempt=given.get("may_preempt")
    )


def _pairs(before: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """A merge: what is null there is taken away."""
    return {key: value for key, value in {**before, **given}.items() if value is not None}


def _version(one: PriorityClass) -> str:
    return f'"{one.version}"'
