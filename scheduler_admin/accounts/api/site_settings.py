"""What holds for the whole site: what victims learn of preemptors, and what groups of other doors are here."""

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.models import GroupMapping, Site
from scheduler_admin.accounts.selectors import site, tenant_called
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.openapi.parts import PROBLEM, etag, if_match
from scheduler_admin.rest.parameters import ReasonParameters

_CLASHES = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}
_ETAG = etag("Of the settings.", 200, 304)
_IF_MATCH = if_match("The ETag of the settings that this changes.")


class SiteSerializer(serializers.Serializer[Site]):
    """The site's settings."""

    preemptor = serializers.ChoiceField(
        Site.Preemptor.choices, help_text="What a victim's tenant learns of the preemptor; each includes those before."
    )
    second_for_editors = serializers.BooleanField(
        help_text="Whether somebody else has to approve what editors of a subtree publish."
    )
    second_for_admins = serializers.BooleanField(help_text="Likewise what admins publish.")


class MappingSerializer(serializers.Serializer[GroupMapping]):
    """What a group is here."""

    id = serializers.IntegerField(source="pk", read_only=True)
    group = serializers.CharField(
        max_length=limits.GROUP, help_text="Of Kubernetes: kubernetes:group:NAME or kubernetes:user:NAME."
    )
    role = serializers.ChoiceField(GroupMapping.ROLES)
    tenant = serializers.CharField(
        source="tenant.name", allow_null=True, default=None, help_text="Of a tenant or an editor: whose."
    )


class MappingsSerializer(serializers.Serializer[Any]):
    """All mappings, by group."""

    results = MappingSerializer(many=True)


class _SiteView(ApiView):
    """What these share: staff read, admins write."""

    staff_only = True

    queries = {"POST": ReasonParameters, "PUT": ReasonParameters, "PATCH": ReasonParameters, "DELETE": ReasonParameters}


class SiteView(_SiteView):
    """The site's settings."""

    actions = {"GET": "view", "PATCH": "administer"}

    @extend_schema(
        operation_id="get_site",
        tags=["site"],
        parameters=[_ETAG],
        responses={200: SiteSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """What holds for the whole site."""
        del request
        found = site()
        return Response(SiteSerializer(found).data, headers={"ETag": _tag(found)})

    @extend_schema(
        operation_id="patch_site",
        tags=["site"],
        parameters=[ReasonParameters, _IF_MATCH, _ETAG],
        request=SiteSerializer(partial=True),
        responses={200: SiteSerializer, **PROBLEM, **REFUSED, **_CLASHES},
    )
    @transaction.atomic
    def patch(self, request: Request) -> Response:
        """Change it."""
        actor, found = self.actor("administer"), site()
        given = read_body(SiteSerializer(found, data=request.data, partial=True), request.data)
        etags.check(request, _tag(found), required=True)
        found = change_site(**given, actor=actor, reason=self.asked["reason"])
        return Response(SiteSerializer(found).data, headers={"ETag": _tag(found)})


class MappingsView(_SiteView):
    """What groups are here."""

    actions = {"GET": "view", "POST": "administer"}

    @extend_schema(operation_id="list_group_mappings", tags=["site"], responses={200: MappingsSerializer, **PROBLEM})
    def get(self, request: Request) -> Response:
        """By group."""
        del request
        return Response(MappingsSerializer({"results": GroupMapping.objects.select_related("tenant")}).data)

    @extend_schema(
        operation_id="add_group_mapping",
        tags=["site"],
        parameters=[ReasonParameters],
        request=MappingSerializer,
        responses={201: MappingSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """A group is this from now on, also to those who are signed in."""
        actor = self.actor("administer")
        given = read_body(MappingSerializer(data=request.data), request.data)
        named, reason = given["tenant"], self.asked["reason"]
        tenant = tenant_called((named["name"] if isinstance(named, dict) else named) or "")
        made = add_mapping(group=given["group"], role=given["role"], tenant=tenant, actor=actor, reason=reason)
        return Response(MappingSerializer(made).data, status=201)


class MappingView(_SiteView):
    """One mapping."""

    actions = {"DELETE": "administer"}

    @extend_schema(
        operation_id="delete_group_mapping",
        tags=["site"],
        parameters=[ReasonParameters],
        responses={204: None, **PROBLEM, **REFUSED},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """The group is that no longer."""
        del request
        actor = self.actor("administer")
        found = get_object_or_404(GroupMapping.objects.select_related("tenant"), pk=pk)
        remove_mapping(mapping=found, actor=actor, reason=self.asked["reason"])
        return Response(status=204)


def _tag(found: Site) -> str:
    settings = repr([found.preemptor, found.second_for_editors, found.second_for_admins])
    return entity_tag(settings)
