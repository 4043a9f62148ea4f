"""Saved snapshots: kept, uploaded, taken along, tried under trees, forgotten."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from engine.planning.journal import JournalError
from scheduler_admin.core import limits
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.presenters import IN_FORCE, OWN, SnapshotPage, snapshot_page
from scheduler_admin.journal.selectors.forecasts import alone
from scheduler_admin.journal.selectors.snapshots import as_file, find_snapshot, snapshots_of
from scheduler_admin.journal.services.snapshots import MOST_BYTES, delete_snapshot, save_snapshot, upload_snapshot
from scheduler_admin.queues.api.outcomes import told
from scheduler_admin.queues.api.tree_serializers import ForecastSerializer
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.media import OWN_FORM, ZIP, Body, ManifestsParser, ZipParser, ZipRenderer
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM

_NAME = "What it is called here."
_REFUSED = {**REFUSED, **{(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (413, 415)}}


class SnapshotSerializer(serializers.ModelSerializer[SavedSnapshot]):
    """A cluster at one moment, with the tree that was in force."""

    at = UtcField()
    saved_at = UtcField()
    by = serializers.CharField(source="author_name")
    policy = serializers.CharField(help_text="Of its own tree; empty: none came with it.")

    class Meta:
        model = SavedSnapshot
        fields = ["id", "name", "at", "uploaded", "nodes", "pods", "left_out", "policy", "dialect", "by", "saved_at"]


class SnapshotsSerializer(serializers.Serializer[Any]):
    """All that are kept, the newest first."""

    results = SnapshotSerializer(many=True)


class NewSnapshotSerializer(serializers.Serializer[Any]):
    """What is to be kept."""

    name = serializers.CharField(max_length=limits.SNAPSHOT_NAME)
    at = UtcField(
        required=False, allow_null=True, default=None, help_text="A moment that the journal still tells of; null: now."
    )


class UploadParameters(serializers.Serializer[Any]):
    """What an upload is called."""

    name = serializers.CharField(max_length=limits.SNAPSHOT_NAME, help_text=_NAME)


class FileParameters(serializers.Serializer[Any]):
    """What is in a file."""

    names = serializers.ChoiceField(["with", "without"], default="with", help_text="without: nobody's names.")


class TryParameters(serializers.Serializer[Any]):
    """Under which tree."""

    tree = serializers.RegexField(
        r"^(own|current|draft:\d{1,18})$",
        required=False,
        help_text="own: that it was saved with; current: that in force; draft:12. Left out: the first that there is.",
    )


class SnapshotForecastSerializer(serializers.Serializer[Any]):
    """What would happen to a snapshot under a tree."""

    tree = serializers.CharField(allow_null=True)
    forecast = ForecastSerializer(allow_null=True, help_text="There is nothing beside it: all of it is `caused`.")
    reason = serializers.CharField(allow_null=True, help_text="Why there is no forecast.")


class _SnapshotsView(ApiView):
    """What these share: for those who see everything."""

    staff_only = True

    def find(self, name: str, pk: int) -> SavedSnapshot:
        """A snapshot. Raises Http404."""
        return find_snapshot(self.request.user, self.cluster(name), pk)


class SnapshotsView(_SnapshotsView):
    """The snapshots of a cluster."""

    actions = {"GET": "view", "POST": "operate"}

    @extend_schema(
        operation_id="list_snapshots",
        tags=["snapshots"],
        parameters=[CLUSTER],
        responses={200: SnapshotsSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """All that are kept: fifty at most."""
        rows = snapshots_of(request.user, self.cluster(name))
        return Response(SnapshotsSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="save_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER],
        request=NewSnapshotSerializer,
        responses={201: SnapshotSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        """Keep the cluster as it was last seen, or at a moment, with the tree that was in force then."""
        cluster, actor = self.cluster(name), self.actor("operate")
        given = read_body(NewSnapshotSerializer(data=request.data), request.data)
        made = save_snapshot(cluster=cluster, actor=actor, **given)
        return Response(SnapshotSerializer(made).data, status=201)


class SnapshotUploadView(_SnapshotsView):
    """Snapshots from elsewhere."""

    actions = {"POST": "operate"}

    parser_classes = [ZipParser, ManifestsParser]
    largest = MOST_BYTES

    queries = {"POST": UploadParameters}

    @extend_schema(
        operation_id="upload_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER, UploadParameters],
        request={ZIP: OpenApiTypes.BINARY, OWN_FORM: OpenApiTypes.OBJECT},
        responses={201: SnapshotSerializer, **PROBLEM, **_REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        """Keep what a file holds: a snapshot as it was downloaded, or objects as kubectl writes them in JSON."""
        cluster, actor, body = self.cluster(name), self.actor("operate"), request.data
        if not isinstance(body, Body):  # what the framework makes of no body at all
            raise problems.Unreadable([{"detail": _("The request has no body.")}])
        made = upload_snapshot(cluster=cluster, name=self.asked["name"], actor=actor, data=body.raw)
        return Response(SnapshotSerializer(made).data, status=201)


class SnapshotView(_SnapshotsView):
    """One snapshot."""

    actions = {"GET": "view", "DELETE": "operate"}

    @extend_schema(
        operation_id="get_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER],
        responses={200: SnapshotSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str, pk: int) -> Response:
        """When it was, how large it is, who saved it."""
        del request
        return Response(SnapshotSerializer(self.find(name, pk)).data)

    @extend_schema(
        operation_id="delete_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER],
        responses={204: None, **PROBLEM, **REFUSED},
    )
    def delete(self, request: Request, name: str, pk: int) -> Response:
        """Forget it."""
        del request
        self.cluster(name)
        actor = self.actor("operate")
        delete_snapshot(snapshot=self.find(name, pk), actor=actor)
        return Response(status=204)


class SnapshotFileView(_SnapshotsView):
    """What a snapshot holds."""

    actions = {"GET": "view"}

    queries = {"GET": FileParameters}
    renderer_classes: list[type[BaseRenderer]] = [JSONRenderer, ZipRenderer]  # the former for problems

    @extend_schema(
        operation_id="download_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER, FileParameters],
        responses={(200, ZIP): OpenApiTypes.BINARY, **PROBLEM},
    )
    def get(self, request: Request, name: str, pk: int) -> Response:
        """As a zip of plain manifests with its tree; without names nobody's are in it."""
        found, without = self.find(name, pk), self.asked["names"] == "without"
        try:
            data = as_file(found, without_names=without)
        except JournalError as error:  # another version wrote it
            raise Http404 from error
        request.accepted_renderer, request.accepted_media_type = ZipRenderer(), ZIP
        file = f"snapshot-{pk}-without-names.zip" if without else f"{name}-snapshot-{pk}.zip"
        return Response(data, headers={"Content-Disposition": f'attachment; filename="{file}"'})


class SnapshotForecastView(_SnapshotsView):
    """What a tree would do to a snapshot."""

    actions = {"GET": "view"}

    queries = {"GET": TryParameters}

    @extend_schema(
        operation_id="forecast_snapshot",
        tags=["snapshots"],
        parameters=[CLUSTER, TryParameters],
        responses={200: SnapshotForecastSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str, pk: int) -> Response:
        """What would be preempted, pass by pass, if the tree were in force and nobody did anything else."""
        cluster, asked = self.cluster(name), self.asked.get("tree", "")
        wanted = {"own": OWN, "current": IN_FORCE}.get(asked, asked.replace(":", "-"))
        page = snapshot_page(request.user, cluster, self.find(name, pk), wanted)
        if asked and (page.chosen is None or page.chosen.key != wanted):
            raise problems.WrongParameters({"tree": [_("There is no such tree: %(choice)s.") % {"choice": asked}]})
        return Response(SnapshotForecastSerializer(self._row(page)).data)

    def _row(self, page: SnapshotPage) -> dict[str, Any]:
        found, chosen = page.forecast, page.chosen
        tree = {OWN: "own", IN_FORCE: "current"}.get(chosen.key, chosen.key.replace("-", ":")) if chosen else None
        if isinstance(found, str) or chosen is None or chosen.tree is None:
            return {"tree": tree, "forecast": None, "reason": str(found)}
        outlook = alone(found, chosen.tree, page.snapshot.at)
        return {"tree": tree, "forecast": told(outlook, self.scope), "reason": None}
