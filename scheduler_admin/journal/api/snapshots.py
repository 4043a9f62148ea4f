"""Saved snapshots: kept, uploaded, taken along, tried under trees, forgotten."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from engine.planning.journal import JournalError
from scheduler_admin.core import limits
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.presenters import IN_FORCE, OWN, SnapshotPage, snapshot_page
from scheduler_admin.journal.selectors.forecasts import alone
from scheduler_admin.journal.selectors.snapshots import as_file
from scheduler_admin.journal.services.snapshots import MOST_BYTES, delete_snapshot, save_snapshot, upload_snapshot
from scheduler_admin.queues.api.outcomes import told
from scheduler_admin.queues.api.tree_serializers import ForecastSerializer
from scheduler_admin.rest import problems
from scheduler_admin.rest.fields import UtcField, represent
from scheduler_admin.rest.media import OWN_FORM, ZIP, Body, JsonRenderer, ManifestsParser, ZipParser, ZipRenderer
from scheduler_admin.rest.openapi.parts import etag
from scheduler_admin.rest.viewsets import AsRead, Created, Destroyed, InCluster, Listed

_NAME = "Name of the new snapshot."


class SnapshotSerializer(serializers.ModelSerializer[SavedSnapshot]):
    """A saved cluster state with the tree that was published then."""

    taken_at = UtcField(source="at", help_text="Moment of the cluster state.")
    created_at = UtcField(source="saved_at", help_text="Time when the snapshot was created.")
    created_by = serializers.CharField(source="author_name", help_text="Name of the user who created the snapshot.")
    policy = serializers.CharField(help_text="Policy of the saved tree; empty if the snapshot has no tree.")

    class Meta:
        model = SavedSnapshot
        fields = [
            *("id", "name", "taken_at", "uploaded", "nodes", "pods", "ignored_objects", "policy", "dialect"),
            *("created_by", "created_at"),
        ]
        extra_kwargs = {
            "id": {"help_text": "Number of the snapshot."},
            "name": {"help_text": "Name of the snapshot."},
            "uploaded": {"help_text": "True if the snapshot was uploaded."},
            "nodes": {"help_text": "Number of nodes."},
            "pods": {"help_text": "Number of pods."},
            "ignored_objects": {
                "source": "left_out",
                "help_text": "Number of objects in the uploaded file that no policy reads.",
            },
            "dialect": {"help_text": "Dialect of the policy."},
        }


class SnapshotsSerializer(serializers.Serializer[Any]):
    """All saved snapshots, newest first."""

    results = SnapshotSerializer(many=True, help_text="Snapshots of the cluster, newest first.")


class NewSnapshotSerializer(serializers.Serializer[Any]):
    """A snapshot to create."""

    name = serializers.CharField(max_length=limits.SNAPSHOT_NAME, help_text="Name of the snapshot.")
    taken_at = UtcField(
        required=False, allow_null=True, default=None, help_text="Recorded moment to save; null for now.", source="at"
    )


class UploadParameters(serializers.Serializer[Any]):
    """What an upload is called."""

    name = serializers.CharField(max_length=limits.SNAPSHOT_NAME, help_text=_NAME)


class FileParameters(serializers.Serializer[Any]):
    """How a file is written."""

    names = serializers.ChoiceField(["with", "without"], default="with", help_text="`without` replaces all names.")


class TryParameters(serializers.Serializer[Any]):
    """Which tree."""

    tree = serializers.RegexField(
        r"^(snapshot|current|draft:\d{1,18})$",
        required=False,
        help_text="`snapshot` for the tree saved with it, `current` for the published tree, `draft:12` for a draft. "
        "If not given, the first of these that exists.",
    )


class SnapshotForecastSerializer(serializers.Serializer[Any]):
    """What would happen to a snapshot under a tree."""

    tree = serializers.CharField(
        allow_null=True, help_text="Tree that was used: `saved`, `current` or `draft:12`; null if there is none."
    )
    forecast = ForecastSerializer(
        allow_null=True, help_text="The forecast, with all evictions in `caused_evictions`; null if there is none."
    )
    reason = serializers.CharField(allow_null=True, help_text="Why there is no forecast; null if there is one.")


class SnapshotViewSet(AsRead, Listed, Created, Destroyed, InCluster):
    """All saved snapshots of a cluster, at most fifty."""

    actions = {"GET": "view", "POST": "operate", "DELETE": "operate"}
    staff_only = True
    deletes_unread = True
    tag = "snapshots"
    resource = "snapshot", "snapshots"
    operations = {"upload": "upload_snapshot", "file": "download_snapshot", "forecast": "forecast_snapshot"}
    queryset = SavedSnapshot.objects.select_related("cluster")
    serializer_class = SnapshotSerializer
    list_class = SnapshotsSerializer
    body_class = NewSnapshotSerializer

    def get_queryset(self) -> QuerySet[SavedSnapshot]:
        """Return the cluster's snapshots, with what they hold only where that is read."""
        rows = super().get_queryset()
        return rows if self.action in {"file", "forecast"} else rows.defer("blob", "document")

    def retrieve(self, request: Request, **place: Any) -> Response:
        """A snapshot with its time, its size and who created it."""
        return super().retrieve(request, **place)

    def make(self, given: dict[str, Any]) -> SavedSnapshot:
        """Save the last known or an earlier cluster state, with the tree that was published then."""
        return save_snapshot(cluster=self.named_cluster, actor=self.user, **given)

    def remove(self, row: SavedSnapshot) -> None:
        """Delete the snapshot."""
        delete_snapshot(snapshot=row, actor=self.user)

    @extend_schema(
        request={ZIP: OpenApiTypes.BINARY, OWN_FORM: OpenApiTypes.OBJECT},
        parameters=[etag("ETag of the snapshot.", 201)],
        responses={201: SnapshotSerializer},
    )
    @action(
        detail=False,
        methods=["post"],
        queries={"POST": UploadParameters},
        parser_classes=[ZipParser, ManifestsParser],
        largest=MOST_BYTES,
    )
    def upload(self, request: Request, **_place: Any) -> Response:
        """Save the content of a file: a downloaded snapshot, or objects as kubectl writes them in JSON."""
        cluster, body = self.named_cluster, request.data
        if not isinstance(body, Body):  # what the framework makes of no body at all
            raise problems.Unreadable([{"detail": _("The request body is empty.")}])
        made = upload_snapshot(cluster=cluster, name=self.asked["name"], actor=self.user, data=body.raw)
        return self.answer(made, status=201)

    @extend_schema(responses={(200, ZIP): OpenApiTypes.BINARY})
    @action(
        detail=True,
        queries={"GET": FileParameters},
        renderer_classes=[JsonRenderer, ZipRenderer],  # the former for problems
    )
    def file(self, request: Request, **_place: Any) -> Response:
        """Download the snapshot as a zip of manifests with its tree, with or without real names."""
        found, without = self.get_object(), self.asked["names"] == "without"
        try:
            data = as_file(found, without_names=without)
        except JournalError as error:  # another version wrote it
            raise Http404 from error
        request.accepted_renderer, request.accepted_media_type = ZipRenderer(), ZIP
        file = f"snapshot-{found.pk}-without-names.zip" if without else f"{found.cluster.name}-snapshot-{found.pk}.zip"
        return Response(data, headers={"Content-Disposition": f'attachment; filename="{file}"'})

    @extend_schema(responses=SnapshotForecastSerializer)
    @action(detail=True, queries={"GET": TryParameters})
    def forecast(self, request: Request, **_place: Any) -> Response:
        """What would be preempted, pass by pass, if the tree were published and nothing else changed."""
        asked = self.asked.get("tree", "")
        wanted = {"snapshot": OWN, "current": IN_FORCE}.get(asked, asked.replace(":", "-"))
        page = snapshot_page(request.user, self.named_cluster, self.get_object(), wanted)
        if asked and (page.chosen is None or page.chosen.key != wanted):
            raise problems.WrongParameters({"tree": [_("Queue tree %(choice)s does not exist.") % {"choice": asked}]})
        return Response(represent(SnapshotForecastSerializer, self._forecast_of(page)))

    def _forecast_of(self, page: SnapshotPage) -> dict[str, Any]:
        found, chosen = page.forecast, page.chosen
        tree = {OWN: "snapshot", IN_FORCE: "current"}.get(chosen.key, chosen.key.replace("-", ":")) if chosen else None
        if isinstance(found, str) or chosen is None or chosen.tree is None:
            return {"tree": tree, "forecast": None, "reason": str(found)}
        outlook = alone(found, chosen.tree, page.snapshot.at)
        return {"tree": tree, "forecast": told(outlook, self.scope), "reason": None}
