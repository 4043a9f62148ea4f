"""What is done with published trees: held against each other, put in force again, parts of them put back."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.notes import ImportFailure
from scheduler_admin.core import limits
from scheduler_admin.queues.api.drafts.bodies import created
from scheduler_admin.queues.api.drafts.serializers import (
    DraftDetailSerializer,
    PublishedRevisionSerializer,
    PublishSerializer,
)
from scheduler_admin.queues.api.drafts.views import DRAFT_ETAG
from scheduler_admin.queues.api.proposals import differing
from scheduler_admin.queues.api.tree_serializers import TreeChangeSerializer
from scheduler_admin.queues.api.trees import tag
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.selectors import revisions as selectors
from scheduler_admin.queues.services.hierarchies import OutdatedError, roll_back
from scheduler_admin.queues.services.restore import restore
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.openapi.parts import etag, if_match
from scheduler_admin.rest.problems import Unacceptable

_CLASHES = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}
_IF_MATCH = if_match("ETag of the published tree.")


class DiffParameters(serializers.Serializer[Any]):
    """Against what."""

    base_revision = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the revision to compare with; default is the previous one.",
    )


class RevisionDiffSerializer(serializers.Serializer[Any]):
    """The changes between two revisions."""

    revision = serializers.IntegerField(help_text="Number of the revision.")
    base_revision = serializers.IntegerField(
        allow_null=True, help_text="Number of the revision that it is compared with; null if there is none before it."
    )
    changes = TreeChangeSerializer(many=True, help_text="Changes between the two revisions.")


class RestoreQueueSerializer(serializers.Serializer[Any]):
    """A queue to restore."""

    queue = serializers.CharField(
        max_length=limits.QUEUE_PATH, help_text="Path of a queue of the revision; the queues below it are restored too."
    )


class _RevisionView(ApiView):
    """What these share: for those who see everything."""

    tag = "trees"

    def find(self, name: str, number: int) -> Revision:
        """A revision. Raises Http404."""
        user = self.request.user
        hierarchy = get_object_or_404(Hierarchy.objects.restrict(user, "view"), name=name)
        return selectors.find_revision(user, hierarchy, number)


class RevisionDiffView(_RevisionView):
    """One revision against another."""

    actions = {"GET": "view"}

    queries = {"GET": DiffParameters}

    @extend_schema(
        operation_id="diff_revisions",
        responses={200: RevisionDiffSerializer},
    )
    def get(self, request: Request, name: str, number: int) -> Response:
        """What a revision changed, or its differences from another revision."""
        found, other = self.find(name, number), self.asked.get("base_revision")
        against = self.find(name, other) if other else selectors.former(request.user, found)
        rows = differing(selectors.difference(against, found), selectors.beside(against, found))
        body = {"revision": number, "base_revision": against.number if against else None, "changes": rows}
        return Response(represent(RevisionDiffSerializer, body))


class RollBackView(_RevisionView):
    """The way back."""

    actions = {"POST": "edit"}

    @extend_schema(
        operation_id="roll_back_revision",
        parameters=[_IF_MATCH, etag("ETag of the published tree.", 200)],
        request=PublishSerializer,
        responses={200: PublishedRevisionSerializer, **_CLASHES},
    )
    def post(self, request: Request, name: str, number: int) -> Response:
        """Publish a revision again exactly as it was: tree, policy and document. No approval is required."""
        found = self.find(name, number)
        actor, current = self.actor("edit"), found.hierarchy.current
        body = read_body(PublishSerializer(data=request.data), request.data)
        etags.check(request, tag(current, self.scope), required=True)
        try:
            made = roll_back(to=found, author=actor, onto=current.pk if current else None, **body)
        except OutdatedError as error:
            raise problems.Overtaken(tag(error.current, self.scope)) from error
        except ImportFailure as error:
            raise Unacceptable([{"detail": said(note), "queue": note.path} for note in error.notes]) from error
        return Response({"revision": made.number}, headers={"ETag": tag(made, self.scope)})


class RestoreView(_RevisionView):
    """A queue that is gone."""

    actions = {"POST": "edit"}
    tag = "drafts"

    @extend_schema(
        operation_id="restore_queue",
        request=RestoreQueueSerializer,
        parameters=[DRAFT_ETAG],
        responses={201: DraftDetailSerializer},
    )
    def post(self, request: Request, name: str, number: int) -> Response:
        """Restore a queue with all queues below it in a new draft of the published tree."""
        found, actor = self.find(name, number), self.actor("edit")
        queue = read_body(RestoreQueueSerializer(data=request.data), request.data)["queue"]
        made = restore(revision=found, path=queue, author=actor)
        return created(request, actor, made)
