"""The replay file of a decision, by REST: for those who see everything, as it holds the whole cluster."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from engine.planning.journal import JournalError
from scheduler_admin.decisions.api.seen import seen_by
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.replay.replay_file import replay_file
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.media import ZIP, JsonRenderer, ZipRenderer


class ReplayView(ApiView):
    """All that one decision rests on."""

    actions = {"GET": "view"}
    staff_only = True
    tag = "decisions"

    renderer_classes: list[type[BaseRenderer]] = [JsonRenderer, ZipRenderer]  # the former for problems

    @extend_schema(
        operation_id="download_decision_replay",
        responses={(200, ZIP): OpenApiTypes.BINARY, (409, problems.MEDIA_TYPE): problems.ProblemSerializer},
    )
    def get(self, request: Request, pk: int) -> Response:
        """A zip of the cluster state, the tree and the decision; `python -m engine replay` makes the decision again."""
        row = get_object_or_404(seen_by(request.user), pk=pk)
        try:
            data = replay_file(row)
        except (CannotReplayError, JournalError) as error:
            raise problems.NotReplayed from error
        request.accepted_renderer, request.accepted_media_type = ZipRenderer(), ZIP
        return Response(data, headers={"Content-Disposition": f'attachment; filename="decision-{pk}.zip"'})
