"""Nodes with their pods, and the pods of an application, by REST: as the last pass stored them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.nodes.api.serializers import (
    ApplicationPodsParameters,
    ApplicationPodsSerializer,
    NodeDetailSerializer,
    NodesParameters,
    NodesSerializer,
)
from scheduler_admin.nodes.selectors import node_of, nodes_of, pods_of, sifted, told
from scheduler_admin.rest.base import ApiView, tagged
from scheduler_admin.rest.converters import OBJECT
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.pagination import TextsField, next_link
from scheduler_admin.rest.viewsets import InCluster


def _read_at(cluster: Cluster) -> datetime | None:
    status = status_of(cluster)
    return status.read_at if status else None


Listed = TypeVar("Listed")
Place = tuple[str, str]


def _page(
    request: Request, found: Iterable[Listed], asked: Mapping[str, Any], place: Callable[[Listed], Place]
) -> tuple[list[Listed], str | None]:
    """What of ``found``, in order of its places, comes after the cursor, and the address of the next page."""
    after, limit = asked.get("cursor", ("", "")), asked["limit"]
    page = list(islice((one for one in found if place(one) > after), limit + 1))
    last = TextsField().to_representation(place(page[limit - 1])) if len(page) > limit else None
    return page[:limit], next_link(request, last)


class NodeViewSet(InCluster):
    """The nodes of a cluster with their resources and usage, for users who see everything. Follow `next`.

    The ETag depends on the nodes, not on `read_at`.
    """

    actions = {"GET": "view"}
    queries = {"GET": NodesParameters}
    staff_only = True
    tag = "clusters"
    resource = "node", "nodes"
    serializer_class = NodeDetailSerializer
    list_class = NodesSerializer
    lookup_field = "node"
    lookup_value_converter = OBJECT

    def list(self, request: Request, **_place: Any) -> Response:
        """Return a page of the nodes that are asked for, by name."""
        cluster, asked = self.named_cluster, self.asked
        found = sifted(nodes_of(request.user, cluster), text=asked.get("q", ""), state=asked.get("state", ""))
        page, following = _page(request, found, asked, lambda node: (node.name, ""))
        body = {"cluster": cluster.name, "read_at": _read_at(cluster), "next": following, "results": page}
        return tagged(represent(NodesSerializer, body), but="read_at")

    def retrieve(self, request: Request, **_place: Any) -> Response:
        """A node with its pods, for users who see everything."""
        cluster = self.named_cluster
        node, pods = node_of(request.user, cluster, self.kwargs["node"])
        seen = told(request.user, cluster, pods)
        body = {"cluster": cluster.name, "read_at": _read_at(cluster), "node": node, "pods": seen}
        return tagged(represent(NodeDetailSerializer, body), but="read_at")


class ApplicationPodsView(ApiView):
    """The pods of an application."""

    actions = {"GET": "view"}
    queries = {"GET": ApplicationPodsParameters}
    tag = "queues"

    @extend_schema(operation_id="list_application_pods", responses=ApplicationPodsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The pods of an application that you may see; finished pods are not stored. Follow `next`.

        The ETag depends on the pods, not on `read_at`.
        """
        cluster, asked = self.cluster(name), self.asked
        found = pods_of(request.user, cluster, asked["namespace"], asked["application"], asked.get("queue", ""))
        page, following = _page(request, found, asked, lambda one: (one.name, one.uid))
        body = {"cluster": cluster.name, "read_at": _read_at(cluster), "next": following}
        results = told(request.user, cluster, page)
        return tagged(represent(ApplicationPodsSerializer, {**body, "results": results}), but="read_at")
