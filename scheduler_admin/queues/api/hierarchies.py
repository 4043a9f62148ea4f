"""Hierarchies and their revisions."""

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.registry import Format
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.api import tree_serializers as serializers
from scheduler_admin.queues.api.documents import own_form
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.selectors.revisions import find_revision, in_force_at, revisions_of, written
from scheduler_admin.queues.services.hierarchies import document_format, native_of
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.media import OWN_FORM, YUNIKORN, YuniKornRenderer
from scheduler_admin.rest.openapi.parts import PROBLEM
from scheduler_admin.rest.pagination import NumberedPageParameters, next_link

HIERARCHY = OpenApiParameter("name", OpenApiTypes.STR, OpenApiParameter.PATH, description="Name of the hierarchy.")


class HierarchiesView(ApiView):
    """Hierarchies."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="list_hierarchies", tags=["trees"], responses={200: serializers.HierarchiesSerializer, **PROBLEM}
    )
    def get(self, request: Request) -> Response:
        """All hierarchies that you may see, with the revision in force and the clusters that use it."""
        del request
        return Response(serializers.HierarchiesSerializer({"results": self.rows()}).data)

    def rows(self) -> QuerySet[Hierarchy]:
        """The user's hierarchies, with the user's clusters."""
        user = self.request.user
        clusters = Prefetch("clusters", Cluster.objects.restrict(user, "view"))
        return Hierarchy.objects.restrict(user, "view").select_related("current").prefetch_related(clusters)


class HierarchyView(HierarchiesView):
    """One hierarchy."""

    @extend_schema(
        operation_id="get_hierarchy",
        tags=["trees"],
        parameters=[HIERARCHY],
        responses={200: serializers.HierarchySerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:  # type: ignore[override]  # it has a name in its address
        """The revision in force and the clusters that use it."""
        del request
        return Response(serializers.HierarchySerializer(get_object_or_404(self.rows(), name=name)).data)


class RevisionsParameters(NumberedPageParameters):
    """Which revisions."""

    at = UtcField(required=False, help_text="Only the one that was in force at this time; none before the first.")


class RevisionsView(ApiView):
    """The revisions of a hierarchy."""

    actions = {"GET": "view"}

    queries = {"GET": RevisionsParameters}

    @extend_schema(
        operation_id="list_revisions",
        tags=["trees"],
        parameters=[HIERARCHY, RevisionsParameters],
        responses={200: serializers.RevisionsSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Who published what, when and why, newest first; empty for tenants. Follow `next`."""
        hierarchy = get_object_or_404(Hierarchy.objects.restrict(request.user, "view"), name=name)
        if at := self.asked.get("at"):
            then = in_force_at(hierarchy, at) if self.scope.everything else None
            return Response(serializers.RevisionsSerializer({"next": None, "results": [then] if then else []}).data)
        page = revisions_of(request.user, hierarchy, self.asked.get("cursor"), self.asked["limit"])
        body = {"next": next_link(request, page.older), "results": page.revisions}
        return Response(serializers.RevisionsSerializer(body).data)


class RevisionView(ApiView):
    """One revision."""

    actions = {"GET": "view"}

    queries = {"GET": serializers.GetParameters}
    renderer_classes = [JSONRenderer, YuniKornRenderer]

    @extend_schema(
        operation_id="get_revision",
        tags=["trees"],
        parameters=[HIERARCHY, serializers.GetParameters],
        responses={(200, OWN_FORM): serializers.RevisionDetailSerializer, (200, YUNIKORN): str, **PROBLEM},
    )
    def get(self, request: Request, name: str, number: int) -> Response:
        """One revision with its tree in our own form, or (Accept: application/yaml) its tree in a document."""
        hierarchy = get_object_or_404(Hierarchy.objects.restrict(request.user, "view"), name=name)
        revision = find_revision(request.user, hierarchy, number)
        if request.accepted_renderer.media_type == YUNIKORN:
            form = self.asked["document"] or document_format(native_of(revision))
            return Response(written(revision, Format(form)).text)
        body = {"hierarchy": name, "revision": revision, "tree": own_form(revision, self.scope)}
        return Response(serializers.RevisionDetailSerializer(body).data)
