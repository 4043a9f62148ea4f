"""The tree in force as a document: read it, plan a change of it, put another one in force."""

from typing import overload

import msgspec
from django.core.exceptions import ValidationError
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import NotAcceptable, PermissionDenied
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.registry import LARGEST, Format
from engine.model.queue_tree import ROOT_ONLY
from scheduler_admin.accounts.scopes import Action, Scope, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.queues.api import tree_serializers as serializers
from scheduler_admin.queues.api.documents import Part, own_form, read, with_format_checked, wrong_terms
from scheduler_admin.queues.api.fail_on import broken
from scheduler_admin.queues.api.outcomes import outcome
from scheduler_admin.queues.api.proposals import Proposal
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.selectors.revisions import written
from scheduler_admin.queues.services.hierarchies import (
    OutdatedError,
    document_format,
    native_of,
    publish_as,
    terms_of,
    tree_of,
)
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.locations import location
from scheduler_admin.rest.media import (
    OWN_FORM,
    YUNIKORN,
    JsonRenderer,
    OwnFormParser,
    YuniKornParser,
    YuniKornRenderer,
    body_of,
)
from scheduler_admin.rest.openapi.parts import IF_NONE_MATCH, etag, if_match

_ETAG = etag("ETag of the published tree.", 200, 201, 304)
_IF_MATCH = if_match("ETag of the tree that the request replaces.")
_REFUSED = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}


class TreeView(ApiView):
    """The tree in force."""

    actions = {"GET": "view", "PUT": "plan", "POST": "plan"}
    tag = "trees"
    parser_classes = [OwnFormParser, YuniKornParser]
    largest = LARGEST
    renderer_classes = [JsonRenderer, YuniKornRenderer]

    queries = {
        "GET": serializers.GetParameters,
        "PUT": serializers.PutParameters,
        "POST": serializers.PostParameters,
    }

    def get_renderers(self) -> list[BaseRenderer]:
        """What became of a tree is told in JSON alone."""
        return [JsonRenderer()] if self.request.method in {"PUT", "POST"} else super().get_renderers()

    @extend_schema(
        operation_id="get_tree",
        parameters=[_ETAG],
        responses={(200, OWN_FORM): serializers.TreeSerializer, (200, YUNIKORN): str},
    )
    def get(self, request: Request, name: str) -> Response:
        """The published tree in JSON, or in YAML with `Accept: application/yaml`. Tenants see their own queues."""
        found = Hierarchy.objects.restrict(request.user, "view").select_related("current").filter(name=name).first()
        if found is None or found.current is None:
            raise Http404
        current = {"ETag": tag(found.current, self.scope)}
        if request.accepted_renderer.media_type == OWN_FORM:
            return Response(own_form(found.current, self.scope), headers=current)
        if not self.scope.everything:
            raise NotAcceptable(
                _(
                    "A YAML document contains the whole tree, but you can see only part of "
                    "it. Request application/json instead."
                )
            )
        form = self.asked["format"] or document_format(native_of(found.current))
        return Response(written(found.current, Format(form)).text, headers=current)

    @extend_schema(
        operation_id="replace_tree",
        parameters=[_IF_MATCH, IF_NONE_MATCH, _ETAG],
        request=serializers.TREE_BODY,
        responses={
            200: serializers.TreeResultSerializer,
            201: OpenApiResponse(serializers.TreeResultSerializer, description="The hierarchy has its first tree."),
            **_REFUSED,
            (409, problems.MEDIA_TYPE): serializers.FailOnProblemSerializer,
        },
    )
    def put(self, request: Request, name: str) -> Response:
        """Publish a whole tree, or show its effects with `dry_run`. Publishing the same tree again changes nothing.

        A script that knows the address can leave `If-Match` out of a dry run, and of the first tree of a hierarchy.
        """
        return self._write(request, name, first=False)

    @extend_schema(
        operation_id="create_tree",
        parameters=[_ETAG],
        request=serializers.TREE_BODY,
        responses={
            200: OpenApiResponse(serializers.TreeResultSerializer, description="A dry run."),
            201: serializers.TreeResultSerializer,
            (409, problems.MEDIA_TYPE): serializers.FailOnProblemSerializer,
            (412, problems.MEDIA_TYPE): problems.ProblemSerializer,
        },
    )
    def post(self, request: Request, name: str) -> Response:
        """Publish the first tree of a hierarchy, which is created; or show its effects with `dry_run`."""
        return self._write(request, name, first=True)

    def _write(self, request: Request, name: str, *, first: bool) -> Response:
        """Publish what was sent, or show its effects. ``first``: only where nothing is published yet."""
        action: Action = "plan" if self.asked["dry_run"] else "edit"
        self.demand(action)
        hierarchy = self._changeable(name, action)
        current = hierarchy.current if hierarchy else None
        sent = read(body_of(request), hierarchy, self._part(current), self.asked["format"])
        if not self.asked.get("change_format"):
            sent = with_format_checked(sent, hierarchy, writes=action == "edit")
        if first and current is not None:
            raise problems.Overtaken(tag(current, self.scope))
        proposal, scope = Proposal(sent, current), scope_of(request.user, action)
        if (
            proposal.changed and not first
        ):  # who sends a tree again, its answer lost, gets the answer (RFC 9110, 13.1.1)
            etags.check(request, tag(current, self.scope), required=action == "edit")
        if outside := proposal.outside(scope):
            raise problems.OutsideSubtree(outside, subtree=", ".join(sorted(scope.subtrees)))
        clusters = selectors.using(request.user, hierarchy)
        body = serializers.TreeResultSerializer(outcome(proposal, clusters, scope)).data  # before it is in force
        if ruled_out := broken(body, frozenset(self.asked.get("fail_on", ()))):
            raise problems.RuledOut(ruled_out, body, tag(current, self.scope))
        if action == "edit":
            in_force = self._publish(name, proposal)
            headers = {"ETag": tag(in_force, self.scope)}
            if current:
                return Response(body, headers=headers)
            return Response(body, status=201, headers=headers | location(request, "tree", name=name))
        return Response(body, headers={"ETag": tag(current, self.scope)} if current else None)

    def _changeable(self, name: str, action: Action) -> Hierarchy | None:
        """The hierarchy to change, None for a new one.

        Raises Http404 for who sees none of that name and may make none, PermissionDenied for who may only look.
        """
        user = self.request.user
        rows = Hierarchy.objects.select_related("current").filter(name=name)
        found = rows.restrict(user, "view").first()
        if found is None and not scope_of(user, action).everything:
            raise Http404
        if found is not None and not rows.restrict(user, action).exists():
            raise PermissionDenied(_("Only administrators and editors can change queue trees."))
        return found

    def _part(self, current: Revision | None) -> Part | None:
        """What the document is of, where it is not of the whole tree."""
        subtree = self.asked.get("subtree")
        if not subtree:
            return None
        tree = tree_of(current) if current else ROOT_ONLY
        if subtree not in tree or not self.scope.has_path(subtree):
            raise problems.WrongParameters({"subtree": [_("Queue %(name)s does not exist.") % {"name": subtree}]})
        return Part(subtree, tree, self.scope)

    def _publish(self, name: str, proposal: Proposal) -> Revision:
        sent, current = proposal.sent, proposal.current
        try:
            return publish_as(
                name=name,
                tree=sent.tree,
                author=self.user,
                reason=self.asked["reason"],
                terms=sent.terms,
                native=sent.native,
                onto=current.pk if current else None,
                allow_orphans=self.asked.get("allow_orphans", False),
            )
        except OutdatedError as error:
            raise problems.Overtaken(tag(error.current, self.scope)) from error
        except ValidationError as error:
            raise problems.InvalidTree(wrong_terms(error)) from error


@overload
def tag(revision: Revision, scope: Scope) -> str: ...
@overload
def tag(revision: None, scope: Scope) -> None: ...
def tag(revision: Revision | None, scope: Scope) -> str | None:
    """The ETag of a tree in force, of what a scope sees of it; None where there is none yet.

    It is the same for revisions that say the same. What one may not see is not in it: that it changed is hidden, too.
    """
    if revision is None:
        return None
    seen = [revision.document, *terms_of(revision)] if scope.everything else own_form(revision, scope)
    return entity_tag(msgspec.json.encode(seen, order="sorted"))
