"""The PriorityClasses of a cluster: read as the last pass found them, made, changed and deleted."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.kubernetes.convert import NEVER
from engine.formats.kubernetes.priority_classes import with_preemption_annotations
from engine.model.objects import PriorityClass
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.priority_classes.api.serializers import (
    ClassChangeSerializer,
    PriorityClassesSerializer,
    PriorityClassSerializer,
    SeenClassSerializer,
    told,
)
from scheduler_admin.priority_classes.selectors import Picture, Row, picture
from scheduler_admin.priority_classes.services import OvertakenError, change_class, create_class, delete_class
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM, etag, if_match
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.problems import unacceptable

_CONDITIONS = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}
_NAME = OpenApiParameter("priority_class", OpenApiTypes.STR, OpenApiParameter.PATH, description="Name of the class.")
_ETAG = etag("Of the class.", 200, 201, 304)
_IF_MATCH = if_match("The ETag of the class that this changes.")


class _ClassesView(ApiView):
    """What both share: for those who see everything."""

    staff_only = True

    queries = {"POST": ReasonParameters, "PUT": ReasonParameters, "PATCH": ReasonParameters, "DELETE": ReasonParameters}

    def seen(self, name: str) -> tuple[Cluster, Picture | None]:
        """The cluster and its classes. Raises Http404 for those who don't see everything."""
        cluster = self.cluster(name)
        return cluster, picture(cluster)

    def one(self, name: str, priority_class: str) -> tuple[Cluster, Row]:
        """The cluster and one class. Raises Http404."""
        cluster, found = self.seen(name)
        row = found.find(priority_class) if found else None
        if row is None:
            raise Http404
        return cluster, row


class PriorityClassesView(_ClassesView):
    """All of them."""

    actions = {"GET": "view", "POST": "classify"}

    @extend_schema(
        operation_id="list_priority_classes",
        tags=["priority classes"],
        parameters=[CLUSTER],
        responses={200: PriorityClassesSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """With who has which, and the quotas that go by them."""
        del request
        cluster, found = self.seen(name)
        if found is None:
            raise Http404
        status = status_of(cluster)
        body = {
            "results": [told(row) for row in found.rows],
            "without": found.unnamed,
            "gone": found.gone,
            "quotas": found.quotas,
            "quotas_error": found.quotas_error,
            "read_at": status.read_at if status else None,
        }
        return Response(PriorityClassesSerializer(body).data)

    @extend_schema(
        operation_id="add_priority_class",
        tags=["priority classes"],
        parameters=[CLUSTER, ReasonParameters, _ETAG],
        request=PriorityClassSerializer,
        responses={201: SeenClassSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        """Make a class in the cluster. For admins, with a token of the scope cluster:classes."""
        cluster, _found = self.seen(name)
        actor = self.actor("classify")
        given = read_body(PriorityClassSerializer(data=request.data), request.data)
        wanted = PriorityClass(
            name=given["name"], value=given["value"], never_preempts=given.get("preemption_policy") == NEVER
        )
        made = create_class(cluster=cluster, wanted=_merged(wanted, given), actor=actor, reason=self.asked["reason"])
        return _shown(self.one(name, made.name)[1], status=201)


class PriorityClassView(_ClassesView):
    """One of them."""

    actions = {"GET": "view", "PATCH": "classify", "DELETE": "classify"}

    @extend_schema(
        operation_id="get_priority_class",
        tags=["priority classes"],
        parameters=[CLUSTER, _NAME, _ETAG],
        responses={200: SeenClassSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str, priority_class: str) -> Response:
        """As the last pass found it, or as it was written from here since. The ETag is of the class, not of its use."""
        del request
        return _shown(self.one(name, priority_class)[1])

    @extend_schema(
        operation_id="patch_priority_class",
        tags=["priority classes"],
        parameters=[CLUSTER, _NAME, ReasonParameters, _IF_MATCH, _ETAG],
        request=ClassChangeSerializer,
        responses={200: SeenClassSerializer, **PROBLEM, **REFUSED, **_CONDITIONS},
    )
    def patch(self, request: Request, name: str, priority_class: str) -> Response:
        """Change what is given. Nobody overwrites what they have not read."""
        cluster, row = self.one(name, priority_class)
        actor = self.actor("classify")
        given = read_body(ClassChangeSerializer(data=request.data), request.data)
        etags.check(request, _tag(row.one), required=True)
        try:
            change_class(
                cluster=cluster,
                before=row.one,
                after=_merged(row.one, given),
                actor=actor,
                reason=self.asked["reason"],
            )
        except OvertakenError as error:
            raise problems.Overtaken(_tag(error.now) if error.now else None) from None
        except ValidationError as error:
            raise unacceptable(error) from None
        return _shown(self.one(name, priority_class)[1])

    @extend_schema(
        operation_id="delete_priority_class",
        tags=["priority classes"],
        parameters=[CLUSTER, _NAME, ReasonParameters, _IF_MATCH],
        responses={204: None, **PROBLEM, **REFUSED, **_CONDITIONS},
    )
    def delete(self, request: Request, name: str, priority_class: str) -> Response:
        """Delete the class. Pods that have it stay as they are; new ones that name it are refused."""
        cluster, row = self.one(name, priority_class)
        actor = self.actor("classify")
        etags.check(request, _tag(row.one), required=True)
        try:
            delete_class(cluster=cluster, before=row.one, actor=actor, reason=self.asked["reason"])
        except OvertakenError as error:
            raise problems.Overtaken(_tag(error.now) if error.now else None) from None
        except ValidationError as error:
            raise unacceptable(error) from None
        return Response(status=204)


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


def _shown(row: Row, status: int = 200) -> Response:
    return Response(SeenClassSerializer(told(row)).data, status=status, headers={"ETag": _tag(row.one)})


def _tag(one: PriorityClass) -> str:
    """Of the class itself: who has it changes all the time."""
    return f'"{one.version}"'
