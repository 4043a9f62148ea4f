"""Usage over time."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.parameters import queue_known
from scheduler_admin.usage.api.parameters import UsageParameters
from scheduler_admin.usage.api.points import samples
from scheduler_admin.usage.api.serializers import UsageSerializer
from scheduler_admin.usage.selectors import series


class UsageView(ApiView):
    """Usage over time."""

    actions = {"GET": "view"}
    queries = {"GET": UsageParameters}
    tag = "queues"

    @extend_schema(operation_id="get_usage", responses=UsageSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Usage of one resource by a queue over time, with the guarantee and max of that time."""
        cluster, asked = self.cluster(name), self.asked
        if not queue_known(asked["queue"], cluster_id=cluster.pk, user=request.user):
            raise problems.WrongParameters({"queue": [_("This queue does not exist.")]})
        found = series(request.user, cluster, asked["queue"], asked["resource"], asked["since"], asked["until"])
        body = {**asked, "cluster": cluster.name, "step_seconds": found.step_s, "samples": list(samples(found))}
        return Response(represent(UsageSerializer, body))
