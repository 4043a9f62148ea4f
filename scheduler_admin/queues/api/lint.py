"""What is odd about a tree, and what holds: of a document that is sent, of the tree in force. Nothing is changed."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.registry import LARGEST, Format
from engine.model.notes import Note
from engine.policies import lint_rules
from engine.tree.lint import lint
from scheduler_admin.accounts.scopes import EVERYTHING, Scope, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.api.documents import Sent, published, read
from scheduler_admin.queues.api.tree_serializers import TREE_BODY, FindingSerializer
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.notes import remedy, said
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.media import OwnFormParser, YuniKornParser, body_of


def findings(sent: Sent, clusters: Iterable[Cluster], scope: Scope) -> list[dict[str, Any]]:
    """What is odd and what holds of a scope's queues; with a cluster's name, whether the guarantees fit it."""
    found = partial(lint, sent.tree, lint_rules(sent.terms.policy, sent.terms.dialect), form=sent.form)
    plain = found()
    rows = [_noted(sent, note, reading=True) for note in sent.notes if scope.has_path(note.path)]
    rows += [_noted(sent, note) for note in plain if scope.has_path(note.path)]
    for cluster in clusters:
        if status := selectors.status_of(cluster):
            fitting = [note for note in found(status.room) if note not in plain and scope.has_path(note.path)]
            rows += [_noted(sent, note, cluster=cluster.name) for note in fitting]
    return rows


def _noted(sent: Sent, note: Note, *, cluster: str | None = None, reading: bool = False) -> dict[str, Any]:
    row = {"severity": note.severity.value, "queue": note.path, "field": note.field, "sentence": said(note)}
    row["remedy"] = remedy(note)
    return {**row, "cluster": cluster, "from_import": reading, **sent.place(note)}


class LintParameters(serializers.Serializer[Any]):
    """As what a document is looked at."""

    hierarchy = serializers.SlugField(
        required=False,
        help_text="Name of a hierarchy whose policy and clusters are used for the check.",
    )
    format = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Format of a YAML document; by default, it is detected.",
    )


class LintSerializer(serializers.Serializer[Any]):
    """The findings about a document."""

    results = FindingSerializer(many=True, help_text="Findings about the document.")


class TreeLintSerializer(serializers.Serializer[Any]):
    """The findings about the published tree; pointers refer to the tree as you read it."""

    hierarchy = serializers.CharField(help_text="Name of the hierarchy.")
    revision = serializers.IntegerField(help_text="Number of the published revision.")
    results = FindingSerializer(many=True, help_text="Findings about the published tree.")


class LintView(ApiView):
    """A document's lint."""

    actions = {"POST": "plan"}
    tag = "trees"
    queries = {"POST": LintParameters}
    parser_classes = [OwnFormParser, YuniKornParser]
    largest = LARGEST

    @extend_schema(
        operation_id="lint_document",
        request=TREE_BODY,
        responses={200: LintSerializer},
    )
    def post(self, request: Request) -> Response:
        """Findings about a queue tree. Trees that cannot be published are rejected, as by PUT."""
        scope = scope_of(request.user, "plan")
        if not scope.everything and not scope.subtrees:
            raise PermissionDenied
        hierarchy = self._hierarchy()
        sent = read(body_of(request), hierarchy, form=self.asked["format"])
        rows = findings(sent, selectors.using(request.user, hierarchy), scope if hierarchy else EVERYTHING)
        return Response(represent(LintSerializer, {"results": rows}))

    def _hierarchy(self) -> Hierarchy | None:
        """The one that is named. Raises Http404."""
        name = self.asked.get("hierarchy")
        rows = Hierarchy.objects.restrict(self.request.user, "view").select_related("current")
        return get_object_or_404(rows, name=name) if name else None


class TreeLintView(ApiView):
    """The lint of the tree in force."""

    actions = {"GET": "view"}
    tag = "trees"

    @extend_schema(
        operation_id="lint_tree",
        responses={200: TreeLintSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        """Findings about the published tree, also whether its guarantees fit each cluster; editors see their own."""
        user = request.user
        scope = self.scope if self.scope.everything else scope_of(user, "plan")
        trees = Hierarchy.objects.restrict(user, "view" if scope.everything else "plan").select_related("current")
        found = get_object_or_404(trees, name=name)
        if found.current is None:
            raise Http404
        rows = findings(published(found.current, found, scope), selectors.using(user, found), scope)
        body = {"hierarchy": name, "revision": found.current.number, "results": rows}
        return Response(represent(TreeLintSerializer, body))
