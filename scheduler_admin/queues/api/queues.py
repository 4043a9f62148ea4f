"""The queues of a cluster with what the last pass read of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.quantities import format_amount
from engine.model.queue_paths import is_inside
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.clusters.status.reclaim_notices import notices_of
from scheduler_admin.pending.waits import waits_of
from scheduler_admin.queues.api.queue_serializers import QueueDetailSerializer, QueuesParameters, QueuesSerializer
from scheduler_admin.queues.models import Queue, Revision
from scheduler_admin.queues.presenters.standing import QueueStanding, stand
from scheduler_admin.queues.selectors.lending import Dealing, dealings
from scheduler_admin.queues.selectors.queues import tree_with, visible
from scheduler_admin.queues.selectors.visible_queues import VisibleQueues
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.openapi.parts import CLUSTER
from scheduler_admin.rest.pagination import next_link


class QueueView(ApiView):
    """What queue routes share."""

    tag = "queues"

    def current(self, cluster: Cluster) -> Revision | None:
        """The revision that is enforced."""
        return cluster.hierarchy.current if cluster.hierarchy else None

    def queues(self, cluster: Cluster, revision: Revision | None) -> VisibleQueues:
        """The user's queues of the revision, dynamic ones too."""
        return visible(self.request.user, revision, present(cluster))

    def stand(self, cluster: Cluster, revision: Revision, queues: Iterable[Queue]) -> list[QueueStanding]:
        """Some of these with their standing."""
        tree, status = tree_with(revision, present(cluster)), status_of(cluster)
        return [stand(queue, status, tree, dialect=revision.dialect) for queue in queues]

    def head_of(self, cluster: Cluster, revision: Revision | None) -> dict[str, Any]:
        """What the answer is about, and as of when."""
        status = status_of(cluster)
        return {
            "cluster": cluster.name,
            "revision": revision.number if revision else None,
            "read_at": status.read_at if status else None,
        }


class QueuesView(QueueView):
    """The queues of a cluster."""

    actions = {"GET": "view"}
    queries = {"GET": QueuesParameters}

    @extend_schema(
        operation_id="list_queues",
        responses={200: QueuesSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        """Every queue of the published revision with its usage, limits, pending pods, fence and delay.

        With `limit`, follow `next`. It ends when another revision is published that has not the last queue of the page.
        """
        cluster, asked = self.cluster(name), self.asked
        revision = self.current(cluster)
        found, last = self._part(self.queues(cluster, revision), asked)
        results = self.stand(cluster, revision, found) if revision else []
        body = {**self.head_of(cluster, revision), "next": next_link(request, last), "results": results}
        return Response(represent(QueuesSerializer, body))

    def _part(self, queues: Sequence[Queue], asked: Mapping[str, Any]) -> tuple[Sequence[Queue], str | None]:
        """What is asked for, and the path at which the page ends if there are more. Raises WrongParameters."""
        if below := asked.get("below"):
            queues = [queue for queue in queues if is_inside(queue.path, below)]
        first = 0
        if after := asked.get("cursor"):
            first = next((place for place, queue in enumerate(queues, 1) if queue.path == after), 0)
            if not first:
                message = _("This cursor is not valid. Use a cursor that the API returned.")
                raise problems.WrongParameters({"cursor": [message]})
        end = first + asked.get("limit", len(queues))
        return queues[first:end], queues[end - 1].path if end < len(queues) else None


class QueueDetailView(QueueView):
    """One queue."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="get_queue",
        parameters=[
            CLUSTER,
            OpenApiParameter("path", OpenApiTypes.STR, OpenApiParameter.PATH, description="root.tenant-1.queue-b"),
        ],
        responses={200: QueueDetailSerializer},
    )
    def get(self, request: Request, name: str, path: str) -> Response:
        """A queue with the applications that run in it."""
        cluster = self.cluster(name)
        revision = self.current(cluster)
        queue = next((one for one in self.queues(cluster, revision) if one.path == path), None)
        if queue is None or revision is None:
            raise Http404
        [found] = self.stand(cluster, revision, [queue])
        status = status_of(cluster)
        # A tenant's queue may hold pods of namespaces that aren't the tenant's.
        running = status.applications.get(path, []) if status else []
        body = QueueDetailSerializer(
            {
                **self.head_of(cluster, revision),
                "queue": found,
                "namespaces": found.queue.own.namespaces,
                "former_paths": found.queue.own.former_paths,
                "wait_estimate": self._waits(cluster, path) if found.queue.leaf else None,
                "reclaim_notice": next((one for one in notices_of(request.user, cluster) if one.queue == path), None),
                "resource_quota_limit": status.queues.get(path, {}).get("above_quota") if status else None,
                "loans": [_loan(dealing) for dealing in self._dealings(cluster, revision, path)],
                "applications": [app for app in running if self.scope.has_pod(app["namespace"], path)],
            }
        ).data
        return Response(body)

    def _dealings(self, cluster: Cluster, revision: Revision | None, path: str) -> list[Dealing]:
        status = status_of(cluster)
        if revision is None or status is None:
            return []
        return dealings(self.scope, status.queues, revision, tree_with(revision, present(cluster)), path)

    def _waits(self, cluster: Cluster, path: str) -> dict[str, Any]:
        """What was told of asks, and came of it, is told to those who see everything."""
        found, told = waits_of(cluster, path, timezone.now()), self.scope.everything
        return {"estimate": found.estimate, "half": found.half if told else None, "most": found.most if told else None}


def _loan(dealing: Dealing) -> dict[str, Any]:
    def written(amount: int) -> str:
        return format_amount(dealing.resource, amount)

    parties = [{"kind": one.who, "queue": one.queue, "amount": written(one.amount)} for one in dealing.parts]
    return {
        "resource": dealing.resource,
        "borrowing": dealing.borrows,
        "amount": written(dealing.amount),
        "parties": parties,
    }
