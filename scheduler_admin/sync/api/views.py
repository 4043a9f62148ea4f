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
from scheduler_admin.queues.api.tree_serializers import ChangeSerializer
from scheduler_admin.queues.models import Draft
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.sync.models import KEPT, Writing
from scheduler_admin.sync.presenters import View, view_of
from scheduler_admin.sync.services import OvertakenError, ask_to_put_back, ask_to_write, look_now, place, take
from scheduler_admin.sync.state import Standing


class WritingSerializer(serializers.ModelSerializer[Writing]):
    """A revision that somebody wanted written there."""

    revision = serializers.IntegerField(
        source="revision.number", default=None, allow_null=True, help_text="null: what the scheduler last used."
    )
    by = serializers.CharField(source="by_name")
    at = UtcField()
    ended_at = UtcField(allow_null=True)
    clashes = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="Others' fields that were in the way."
    )

    class Meta:
        model = Writing
        fields = ["id", "revision", "state", "note", "clashes", "by", "reason", "at", "ended_at"]


class CopySerializer(serializers.Serializer[View]):
    """How the cluster's copy, as it was last seen, and the revision in force stand to each other."""

    standing = serializers.ChoiceField([one.value for one in Standing], source="standing.value")
    drifted = serializers.BooleanField(source="standing.drifted", help_text="Whether writing takes back others' work.")
    form = serializers.ChoiceField([one.value for one in KEPT], source="copy.form", default=None, allow_null=True)
    namespace = serializers.CharField(source="copy.namespace", default="", help_text="Empty: where YuniKorn runs.")
    looked_at = UtcField(source="copy.looked_at", default=None, allow_null=True)
    effect = serializers.ChoiceField(
        [one.value for one in CopyEffect],
        source="copy.effect",
        default=CopyEffect.UNKNOWN.value,
        help_text="Whether the scheduler uses what the copy says, asked of the scheduler itself.",
    )
    effect_note = serializers.CharField(
        source="copy.effect_note", default="", help_text="Why it does not, or why it can't be asked, in its own words."
    )
    good_at = UtcField(
        source="copy.good_at", default=None, allow_null=True, help_text="When the scheduler last used the copy."
    )
    error = serializers.CharField(source="copy.error", default="", help_text="Why the last look failed, or empty.")
    writer = serializers.CharField(source="copy.writer", default="", help_text="Who wrote it, as the cluster tells.")
    written_at = UtcField(source="copy.written_at", default=None, allow_null=True)
    revision = serializers.IntegerField(source="current.number", default=None, allow_null=True, help_text="In force.")
    agreed_with = serializers.IntegerField(
        source="copy.agreed_with.number", default=None, allow_null=True, help_text="The revision that it last was."
    )
    there = serializers.SerializerMethodField(help_text="What others changed there since.")
    writing = serializers.SerializerMethodField(help_text="What writing the revision would change there.")
    placement = serializers.BooleanField(help_text="Whether writing changes the placement rules.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Why it says no tree.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What it can't say of the revision's tree.")
    pending = serializers.BooleanField(help_text="Whether a writing is under way.")
    writings = WritingSerializer(many=True, help_text="The latest ten, newest first.")

    @extend_schema_field(ChangeSerializer(many=True))
    def get_there(self, view: View) -> list[dict[str, Any]]:
        """Queue by queue."""
        return differing(view.differences.there if view.differences else (), ())

    @extend_schema_field(ChangeSerializer(many=True))
    def get_writing(self, view: View) -> list[dict[str, Any]]:
        """Queue by queue."""
        return differing(view.differences.writing if view.differences else (), ())


_TYPES: Mapping[str, type] = {"reason": str, "namespace": str, "overwrite": bool}


def _is_other(data: Any, name: str, kind: type) -> bool:
    return isinstance(data, Mapping) and name in data and not isinstance(data[name], kind)


class CopyActSerializer(serializers.Serializer[Any]):
    """What is to be done, with what that takes."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse values that the fields would make texts and truths of: the document knows their types."""
        others = [name for name, kind in _TYPES.items() if _is_other(data, name, kind)]
        wrong = {name: [self.fields[name].error_messages["invalid"]] for name in others}
        if wrong:
            raise serializers.ValidationError(wrong)
        return super().to_internal_value(data)

    act = serializers.ChoiceField(["look", "write", "put-back", "place", "take"])
    reason = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.SHOWN_REASON,
        help_text="To write, or to place: why.",
    )
    overwrite = serializers.BooleanField(
        required=False, default=False, help_text="To write: that what others changed there is overwritten."
    )
    over = serializers.IntegerField(
        required=False, default=0, min_value=0, help_text="To write: the writing whose clashes are confirmed."
    )
    namespace = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.NAMESPACE,
        help_text="To place: empty: where YuniKorn runs.",
    )


class CopyActedSerializer(serializers.Serializer[Any]):
    """What came of it."""

    copy = CopySerializer()
    draft = serializers.IntegerField(allow_null=True, help_text="That says what the copy does, where it was taken.")


class _CopyView(ApiView, Tagged):
    """What these share: for those who see everything."""

    staff_only = True
    tag = "trees"
    etag_description = "Of both, as they stand."
    if_match_description = "To write: the ETag of what was read."

    def tag_of(self, found: View) -> str:
        """Return an ETag that changes with all that is told but when it was looked at."""
        copy, last = found.copy, found.writings[0] if found.writings else None
        seen = [copy.version, copy.namespace, copy.error, copy.there, copy.effect, copy.effect_note] if copy else []
        writing = [last.pk, last.state] if last else [0, ""]
        return entity_tag(json.dumps([*seen, found.standing, found.current.pk if found.current else 0, *writing]))


class CopyView(_CopyView):
    """A cluster's copy."""

    actions = {"GET": "view"}

    @extend_schema(operation_id="get_copy", responses=CopySerializer)
    def get(self, request: Request, name: str) -> Response:
        """How it stands to the revision in force, who changed it, and what writing the revision would change."""
        view = view_of(request.user, self.cluster(name))
        return Response(CopySerializer(view).data, headers=self.headers_of(view))


class CopyActsView(_CopyView):
    """What is done about a cluster's copy."""

    actions = {"POST": "edit"}

    @extend_schema(operation_id="act_on_copy", request=CopyActSerializer, responses={200: CopyActedSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Look now, say where it is, write the revision in force over it, or take it into a draft.

        The engine's worker looks and writes, within seconds: read the copy again.
        """
        cluster, actor = self.cluster(name), self.actor("edit")
        given = read_body(CopyActSerializer(data=request.data), request.data)
        try:
            draft = self._act(cluster, actor, given)
        except OvertakenError as error:
            raise problems.Overtaken(self.tag_of(view_of(actor, self.cluster(name)))) from error
        view = view_of(actor, self.cluster(name))
        body = {"copy": CopySerializer(view).data, "draft": draft.pk if draft else None}
        return Response(body, headers=self.headers_of(view))

    def _act(self, cluster: Cluster, actor: User, given: Mapping[str, Any]) -> Draft | None:
        """Do what is wanted. Returns the draft that the copy was taken into, if it was."""
        match given["act"]:
            case "look":
                look_now(cluster=cluster)
            case "place":
                place(cluster=cluster, namespace=given["namespace"], actor=actor, reason=given["reason"])
            case "write":
                self._write(cluster, actor, given)
            case "put-back":
                view = view_of(actor, cluster)
                self.check_read(view)
                version = view.copy.version if view.copy else ""
                ask_to_put_back(cluster=cluster, version=version, actor=actor, reason=given["reason"])
            case "take":
                return take(cluster=cluster, author=actor)
        return None

    def _write(self, cluster: Cluster, actor: User, given: Mapping[str, Any]) -> None:
        """Have the revision in force written. What was read is held against both once more where they are locked."""
        view = view_of(actor, cluster)
        self.check_read(view)
        if view.copy is None or view.current is None:
            raise ValidationError(_("There is nothing to write: the cluster’s copy says so already, or there is none."))
        ask_to_write(
            cluster=cluster,
            revision=view.current.pk,
            version=view.copy.version,
            overwrite=given["overwrite"],
            actor=actor,
            reason=given["reason"],
            over=given["over"],
        )
