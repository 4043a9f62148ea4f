"""The map of fences as a drawing, by REST."""

from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import present
from scheduler_admin.core import limits
from scheduler_admin.fences.address import DEFAULT_SINCE, SINCE
from scheduler_admin.fences.presenters.file import MEDIA_TYPE, headers, svg
from scheduler_admin.queues.selectors.queues import visible
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.media import JsonRenderer, SvgRenderer
from scheduler_admin.rest.parameters import QUEUE


class FencesFileParameters(serializers.Serializer[Any]):
    """What is drawn, and whence it is seen: as the page's address has it."""

    queue = serializers.RegexField(
        QUEUE,
        required=False,
        max_length=limits.QUEUE_PATH,
        help_text="Path of a queue: what it can preempt, and what can preempt it.",
    )
    since = serializers.ChoiceField(
        SINCE, default=DEFAULT_SINCE, help_text="Period whose preempted pods are drawn as arrows; `none` for no arrows."
    )
    root = serializers.RegexField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="Path of a queue: only it and the queues below."
    )
    expanded = serializers.ListField(
        child=serializers.RegexField(QUEUE, max_length=limits.QUEUE_PATH),
        required=False,
        help_text="Path of a further expanded queue; repeat it for several.",
    )
    collapsed = serializers.ListField(
        child=serializers.RegexField(QUEUE, max_length=limits.QUEUE_PATH),
        required=False,
        help_text="Path of a collapsed queue; repeat it for several.",
    )


_PAGE_NAMES = {"queue": "queue", "root": "in", "expanded": "open", "collapsed": "fold"}
"""Parameter -> its name in the address of the page."""


class FencesFileView(ApiView):
    """The map of fences."""

    actions = {"GET": "view"}
    queries = {"GET": FencesFileParameters}
    tag = "queues"
    renderer_classes: list[type[BaseRenderer]] = [JsonRenderer, SvgRenderer]  # the former for problems

    @extend_schema(operation_id="draw_fences", responses={(200, MEDIA_TYPE): OpenApiTypes.BINARY})
    def get(self, request: Request, name: str) -> Response:
        """The fence map as a self-contained SVG. The response is 404 if you can see no queue of the tree."""
        cluster = self.cluster(name)
        drawn = svg(request.user, cluster, self._query(cluster), timezone.now())
        request.accepted_renderer, request.accepted_media_type = SvgRenderer(), MEDIA_TYPE
        return Response(drawn, headers=headers(cluster))

    def _query(self, cluster: Cluster) -> QueryDict:
        """The address of the page that shows the same. Raises WrongParameters for a queue that is not seen."""
        revision = cluster.hierarchy.current if cluster.hierarchy else None
        seen = visible(self.request.user, revision, present(cluster)).paths
        query, wrong = QueryDict(mutable=True), {}
        query["since"] = self.asked["since"]
        for named, on_page in _PAGE_NAMES.items():
            given = self.asked.get(named, [])
            paths = [given] if isinstance(given, str) else given
            if not seen.issuperset(paths):
                wrong[named] = [_("This queue does not exist.")]
            query.setlist(on_page, paths)
        if wrong:
            raise problems.WrongParameters(wrong)
        return query
