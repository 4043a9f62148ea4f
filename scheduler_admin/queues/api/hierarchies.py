"""Hierarchies and their revisions."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from engine.formats.registry import Format
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.api import tree_serializers as serializers
from scheduler_admin.queues.api.documents import own_form
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.selectors.revisions import find_revision, with_parents, written
from scheduler_admin.queues.services.hierarchies import document_format, native_of
from scheduler_admin.queues.services.removal import delete_hierarchy
from scheduler_admin.rest.fields import UtcField, represent
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.media import OWN_FORM, YUNIKORN, JsonRenderer, YuniKornRenderer
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import AsRead, Destroyed, Listed, NumberedPages, ResourceViewSet, Retrieved


class HierarchyViewSet(AsRead, Listed, Retrieved, Destroyed):
    """All hierarchies that you can see, with their published revision and their clusters."""

    actions = {"GET": "view", "DELETE": "edit"}
    queries = {"DELETE": ReasonParameters}
    tag = "trees"
    resource = "hierarchy", "hierarchies"
    queryset = Hierarchy.objects.select_related("current")
    serializer_class = serializers.HierarchySerializer
    list_class = serializers.HierarchiesSerializer
    lookup_field = "name"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Hierarchy]:
        """Return the user's hierarchies, with the user's clusters."""
        clusters = Prefetch("clusters", Cluster.objects.restrict(self.request.user, "view"))
        return super().get_queryset().prefetch_related(clusters)

    def authorize(self, request: Request) -> None:
        """Hold the request against the action. Raises PermissionDenied for who may delete only a part of trees."""
        super().authorize(request)
        if request.method == "DELETE":
            self.actor("edit")

    def retrieve(self, request: Request, **place: Any) -> Response:
        """The published revision of a hierarchy and the clusters that use it."""
        return super().retrieve(request, **place)

    def remove(self, row: Hierarchy) -> None:
        """Delete a hierarchy that no cluster uses, with all its revisions and drafts. For admins."""
        delete_hierarchy(hierarchy=row, actor=self.user, reason=self.asked["reason"])


class InHierarchy(ResourceViewSet):
    """Rows of the hierarchy that the address names."""

    @cached_property
    def named_hierarchy(self) -> Hierarchy:
        """The hierarchy. Raises Http404 for one that the user does not see."""
        return get_object_or_404(Hierarchy.objects.restrict(self.request.user, "view"), name=self.kwargs["name"])


class RevisionFilters(Parameters):
    """Which revisions."""

    at = Parameter(
        UtcField(help_text="Only the revision that was published at this time; none before the first one."),
        method="in_force_at",
    )

    def in_force_at(self, rows: QuerySet[Revision], name: str, at: Any) -> QuerySet[Revision]:
        """Return the revision that was in force at a moment."""
        del name
        return rows.filter(pk__in=rows.filter(published_at__lte=at).order_by("-number").values("pk")[:1])


class RevisionViewSet(Listed, Retrieved, InHierarchy):
    """The revisions of a hierarchy, newest first; empty for tenants. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": NumberedPageParameters}
    tag = "trees"
    resource = "revision", "revisions"
    queryset = Revision.objects.all()
    serializer_class = serializers.RevisionDetailSerializer
    list_class = serializers.RevisionsSerializer
    filterset_class = RevisionFilters
    pagination_class = NumberedPages
    newest_by = "number"
    lookup_field = "number"
    renderer_classes = [JsonRenderer, YuniKornRenderer]

    def get_queryset(self) -> QuerySet[Revision]:
        """Return the hierarchy's revisions that the user may see, without their documents of other systems."""
        return with_parents(self.request.user).filter(hierarchy=self.named_hierarchy).defer("source")

    def get_renderers(self) -> list[BaseRenderer]:
        """Return what a revision is written by; a list is told in JSON alone."""
        return [JsonRenderer()] if self.action == "list" else super().get_renderers()

    def query_of(self, method: str) -> type[Serializer[Any]] | None:
        """Return what the query may hold: of one revision, in which format."""
        return serializers.GetParameters if self.action == "retrieve" else super().query_of(method)

    @extend_schema(responses={(200, OWN_FORM): serializers.RevisionDetailSerializer, (200, YUNIKORN): str})
    def retrieve(self, request: Request, **_place: Any) -> Response:
        """A revision with its tree as JSON, or with `Accept: application/yaml` its tree as a document."""
        hierarchy = self.named_hierarchy
        revision = find_revision(request.user, hierarchy, self.kwargs["number"])
        if request.accepted_renderer.media_type == YUNIKORN:
            form = self.asked["format"] or document_format(native_of(revision))
            return Response(written(revision, Format(form)).text)
        body = {"hierarchy": hierarchy.name, "revision": revision, "tree": own_form(revision, self.scope)}
        return Response(represent(serializers.RevisionDetailSerializer, body))
