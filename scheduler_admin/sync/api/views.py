"""The copy of its tree that a cluster's own scheduler goes by: how it stands to ours, and what is done about it."""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.cluster.sync.copies import CopyEffect
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.queues.api.proposals import differing
from scheduler_admin.queues.api.tree_serializers import TreeChangeSerializer
from scheduler_admin.queues.models import Draft
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import UtcField, represent
from scheduler_admin.sync.models import KEPT, Writing
from scheduler_admin.sync.presenters import View, view_of
from scheduler_admin.sync.services import OvertakenError, ask_to_put_back, ask_to_write, look_now, place, take
from scheduler_admin.sync.state import Standing


class ConfigurationWriteSerializer(serializers.ModelSerializer[Writing]):
    """A request to write a revision to the cluster."""

    revision = serializers.IntegerField(
        source="revision.number",
        default=None,
        allow_null=True,
        help_text="Number of the written revision; null for the configuration that the scheduler last used.",
    )
    created_by = serializers.CharField(source="by_name", help_text="Name of the user who requested the write.")
    created_at = UtcField(source="at", help_text="Time when the write was requested.")
    ended_at = UtcField(allow_null=True, help_text="Time when the write ended; null if it has not ended.")
    conflicts = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        help_text="Fields that other field managers own: object, field and message of each.",
        source="clashes",
    )

    class Meta:
        model = Writing
        fields = ["id", "revision", "state", "message", "conflicts", "created_by", "reason", "created_at", "ended_at"]
        extra_kwargs = {
            "id": {"help_text": "Number of the write."},
            "state": {"help_text": "State of the write."},
            "message": {"source": "note", "help_text": "Explanation of the state; empty if none."},
            "reason": {"help_text": "Reason for the write."},
        }


class ClusterConfigurationSerializer(serializers.Serializer[View]):
    """The queue configuration in the cluster, compared with the published revision."""

    sync_status = serializers.ChoiceField(
        [one.value for one in Standing],
        source="standing.value",
        help_text="How the configuration in the cluster compares with the published revision.",
    )
    drifted = serializers.BooleanField(
        source="standing.drifted", help_text="True if writing the revision would overwrite changes made by others."
    )
    format = serializers.ChoiceField(
        [one.value for one in KEPT],
        source="copy.form",
        default=None,
        allow_null=True,
        help_text="Format of the configuration in the cluster; null if there is none.",
    )
    namespace = serializers.CharField(
        source="copy.namespace",
        default="",
        help_text="Namespace of the configuration; empty for the namespace of the YuniKorn pods.",
    )
    checked_at = UtcField(
        source="copy.looked_at",
        default=None,
        allow_null=True,
        help_text="Time of the last successful check; null if never checked.",
    )
    effect = serializers.ChoiceField(
        [one.value for one in CopyEffect],
        source="copy.effect",
        default=CopyEffect.UNKNOWN.value,
        help_text="Whether the scheduler uses the configuration, as the scheduler reports.",
    )
    effect_message = serializers.CharField(
        source="copy.effect_note",
        default="",
        help_text="Explanation from the scheduler, or why it could not be queried; empty if none.",
    )
    last_used_at = UtcField(
        source="copy.good_at",
        default=None,
        allow_null=True,
        help_text="Time when the scheduler was last known to use the configuration; null if never.",
    )
    error = serializers.CharField(
        source="copy.error", default="", help_text="Error of the last check; empty if it succeeded."
    )
    written_by = serializers.CharField(
        source="copy.writer",
        default="",
        help_text="Last writer of the configuration, as the API server reports; empty if unknown.",
    )
    written_at = UtcField(
        source="copy.written_at",
        default=None,
        allow_null=True,
        help_text="Time when the configuration was last written; null if unknown.",
    )
    revision = serializers.IntegerField(
        source="current.number",
        default=None,
        allow_null=True,
        help_text="Number of the published revision; null if there is none.",
    )
    last_synced_revision = serializers.IntegerField(
        source="copy.agreed_with.number",
        default=None,
        allow_null=True,
        help_text="Number of the revision that the configuration last matched; null if none.",
    )
    cluster_changes = serializers.SerializerMethodField(
        help_text="Changes made in the cluster since the configuration last matched a revision."
    )
    changes_to_write = serializers.SerializerMethodField(
        help_text="Changes that writing the published revision would make in the cluster."
    )
    placement_changed = serializers.BooleanField(
        help_text="True if writing would change the placement rules.", source="placement"
    )
    read_errors = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why the configuration cannot be read as a queue tree; empty if it can.",
        source="problems",
    )
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Settings of the revision that the configuration format cannot express.",
    )
    write_in_progress = serializers.BooleanField(
        help_text="True if a write to the cluster is in progress.", source="pending"
    )
    writes = ConfigurationWriteSerializer(many=True, help_text="Last ten writes, newest first.", source="writings")

    @extend_schema_field(TreeChangeSerializer(many=True))
    def get_cluster_changes(self, view: View) -> list[dict[str, Any]]:
        """Queue by queue."""
        return differing(view.differences.there if view.differences else (), ())

    @extend_schema_field(TreeChangeSerializer(many=True))
    def get_changes_to_write(self, view: View) -> list[dict[str, Any]]:
        """Queue by queue."""
        return differing(view.differences.writing if view.differences else (), ())


class ConfigurationActionSerializer(serializers.Serializer[Any]):
    """An action on the configuration in the cluster."""

    action = serializers.ChoiceField(
        ["check", "write", "restore", "set-namespace", "create-draft"],
        help_text="Action to carry out on the cluster's configuration.",
    )
    reason = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.SHOWN_REASON,
        help_text="Reason for the action, kept in the audit log.",
    )
    overwrite = serializers.BooleanField(
        required=False, default=False, help_text="True to overwrite changes that others made, for action `write`."
    )
    confirmed_write_id = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        help_text="Number of the write whose conflicts you confirm, for action `write`; 0 for none.",
    )
    namespace = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.NAMESPACE,
        help_text="Namespace of the configuration, for action `set-namespace`; empty for that of the YuniKorn pods.",
    )


class ConfigurationActionResultSerializer(serializers.Serializer[Any]):
    """The configuration after an action."""

    configuration = ClusterConfigurationSerializer(help_text="The cluster's configuration after the action.")
    draft_id = serializers.IntegerField(
        allow_null=True, help_text="Number of the draft created by action `create-draft`; null for other actions."
    )


class _ConfigurationView(ApiView, Tagged):
    """What these share: for those who see everything."""

    staff_only = True
    tag = "trees"
    etag_description = "ETag of the configuration and the published revision."
    if_match_description = "ETag of the configuration as you read it, for actions that write to the cluster."

    def tag_of(self, found: View) -> str:
        """Return an ETag that changes with all that is told but when it was looked at."""
        copy, last = found.copy, found.writings[0] if found.writings else None
        seen = [copy.version, copy.namespace, copy.error, copy.there, copy.effect, copy.effect_note] if copy else []
        writing = [last.pk, last.state] if last else [0, ""]
        return entity_tag(json.dumps([*seen, found.standing, found.current.pk if found.current else 0, *writing]))


class ConfigurationView(_ConfigurationView):
    """A cluster's copy."""

    actions = {"GET": "view"}

    @extend_schema(operation_id="get_configuration", responses=ClusterConfigurationSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The queue configuration in the cluster, compared with the published revision."""
        view = view_of(request.user, self.cluster(name))
        return Response(represent(ClusterConfigurationSerializer, view), headers=self.headers_of(view))


class ConfigurationActionsView(_ConfigurationView):
    """What is done about a cluster's copy."""

    actions = {"POST": "edit"}

    @extend_schema(
        operation_id="run_configuration_action",
        request=ConfigurationActionSerializer,
        responses={200: ConfigurationActionResultSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Check the configuration, set its namespace, write to the cluster, or create a draft from it.

        The worker of the engine reads and writes within seconds; read the configuration again afterward.
        """
        cluster, actor = self.cluster(name), self.actor("edit")
        given = read_body(ConfigurationActionSerializer(data=request.data), request.data)
        try:
            draft = self._act(cluster, actor, given)
        except OvertakenError as error:
            raise problems.Overtaken(self.tag_of(view_of(actor, self.cluster(name)))) from error
        view = view_of(actor, self.cluster(name))
        body = {"configuration": ClusterConfigurationSerializer(view).data, "draft_id": draft.pk if draft else None}
        return Response(body, headers=self.headers_of(view))

    def _act(self, cluster: Cluster, actor: User, given: Mapping[str, Any]) -> Draft | None:
        """Do what is wanted. Returns the draft that the copy was taken into, if it was."""
        match given["action"]:
            case "check":
                look_now(cluster=cluster)
            case "set-namespace":
                place(cluster=cluster, namespace=given["namespace"], actor=actor, reason=given["reason"])
            case "write":
                self._write(cluster, actor, given)
            case "restore":
                view = view_of(actor, cluster)
                self.check_read(view)
                version = view.copy.version if view.copy else ""
                ask_to_put_back(cluster=cluster, version=version, actor=actor, reason=given["reason"])
            case "create-draft":
                return take(cluster=cluster, author=actor)
        return None

    def _write(self, cluster: Cluster, actor: User, given: Mapping[str, Any]) -> None:
        """Have the revision in force written. What was read is held against both once more where they are locked."""
        view = view_of(actor, cluster)
        self.check_read(view)
        if view.copy is None or view.current is None:
            raise ValidationError(
                _("There is nothing to write: the cluster’s configuration already matches, or it does not exist.")
            )
        ask_to_write(
            cluster=cluster,
            revision=view.current.pk,
            version=view.copy.version,
            overwrite=given["overwrite"],
            actor=actor,
            reason=given["reason"],
            over=given["confirmed_write_id"],
        )
