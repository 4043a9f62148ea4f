"""One cluster."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.api.serializers import ClusterSerializer
from scheduler_admin.rest.base import ApiView, tagged
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM


class ClusterView(ApiView):
    """One cluster."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="get_cluster",
        tags=["clusters"],
        parameters=[CLUSTER],
        responses={200: ClusterSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Mode, pause, last pass, capacity, age of what is known, and why it can't be read if it can't."""
        del request
        context = {"scope": self.scope}
        body = ClusterSerializer(self.cluster(name), context=context).data
        return tagged(dict(body), but="age_seconds")
