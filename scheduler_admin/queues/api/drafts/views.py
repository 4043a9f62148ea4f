"""Drafts: begun, read, changed act by act, looked ahead from, published, thrown away."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.queues.api.drafts import serializers as shapes
from scheduler_admin.queues.api.drafts.actions import ACTIONS
from scheduler_admin.queues.api.drafts.bodies import in_lines, whole
from scheduler_admin.queues.api.outcomes import outlook
from scheduler_admin.queues.drafts import edits, selectors
from scheduler_admin.queues.drafts.storage import ConflictError, locked
from scheduler_admin.queues.drafts.tree_document import queues_of
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.services.hierarchies import OutdatedError
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.openapi.parts import etag, if_match
from scheduler_admin.rest.problems import Unacceptable, unacceptable
from scheduler_admin.rest.viewsets import Changed, Created, Destroyed, Listed

_T = TypeVar("_T")
_CLASHES = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}
_READ = "ETag of the draft as you read it."
_CHANGES = "ETag of the draft; changes with every action and with the published tree."
_IF_MATCH = if_match(_READ)
DRAFT_ETAG = etag(_CHANGES, 200, 201)
_Refusals = (ConflictError, OutdatedError, ImportFailure, ValidationError, DraftQueue.DoesNotExist)


class DraftsBase(ApiView):
    """What routes of drafts share."""

    tag = "drafts"

    def hierarchy(self, name: str) -> Hierarchy:
        """One whose tree the user sees as a whole, or may change a part of. Raises Http404 for others."""
        user = self.request.user
        rows = Hierarchy.objects.select_related("current")
        return get_object_or_404(rows.restrict(user, "view" if self.scope.everything else "edit"), name=name)

    def draft(self, name: str, pk: int) -> Draft:
        """One that the user may see. Raises Http404."""
        return selectors.find(self.request.user, self.hierarchy(name), pk)

    def editor(self) -> User:
        """Who asks, if they edit anything. Raises PermissionDenied."""
        scope = scope_of(self.user, "edit")
        if not scope.everything and not scope.subtrees:
            raise PermissionDenied
        return self.user

    def editable(self, name: str, pk: int) -> tuple[Draft, User]:
        """One that the user may change. Raises Http404 or PermissionDenied."""
        found, actor = self.draft(name, pk), self.editor()
        if not selectors.may_edit(actor, found):
            raise PermissionDenied
        return found, actor

    def as_read(self, draft: Draft, act: Callable[[Draft], _T]) -> _T:
        """Do something to a draft if it still is what the request says that it read, with nobody else at it.

        Raises NoPrecondition, Overtaken, Unacceptable for what is refused, and Http404 where the draft is gone.
        """
        try:
            with transaction.atomic():
                now = locked(draft)
                etags.check(self.request, selectors.tag(now), required=True)
                try:
                    return act(now)
                except _Refusals as error:  # what it changed is taken back, what it noted on the way is not
                    refused = _refused(error)
        except Draft.DoesNotExist as error:
            raise Http404 from error
        raise refused


class DraftViewSet(Listed, Created, Changed, Destroyed, DraftsBase, Tagged):
    """All open drafts; editors see the drafts of their subtrees."""

    actions = {"GET": "view", "POST": "edit", "PATCH": "edit", "DELETE": "edit"}
    resource = "draft", "drafts"
    operations = {"destroy": "discard_draft"}
    queryset = Draft.objects.all()
    serializer_class = shapes.DraftDetailSerializer
    list_class = shapes.DraftsSerializer
    body_class = shapes.NewDraftSerializer
    etag_description = _CHANGES
    if_match_description = _READ

    def list(self, request: Request, **place: Any) -> Response:
        """Return the open drafts of the hierarchy, in a line each."""
        drafts = selectors.drafts_of(request.user, self.hierarchy(place["name"]))
        return Response(represent(shapes.DraftsSerializer, {"results": in_lines(request.user, drafts)}))

    def retrieve(self, request: Request, **place: Any) -> Response:
        """A draft with its findings, its changes and the conflicts that a merge left."""
        del request
        return self.answer(self.draft(place["name"], place["pk"]))

    def answer(self, row: Draft, status: int = 200) -> Response:
        """Return a draft as it is now, as far as its reader sees it."""
        return Response(whole(self.request.user, row), status=status, headers=self.answer_headers(row, status))

    def tag_of(self, found: Draft) -> str:
        """Return the ETag of a draft."""
        return selectors.tag(found)

    def create(self, request: Request, **place: Any) -> Response:
        """Create a draft of the published revision."""
        self.named, self.author = self.hierarchy(place["name"]), self.editor()  # before anything is said of the body
        return super().create(request, **place)

    def make(self, given: dict[str, Any]) -> Draft:
        """Create a draft of the published revision."""
        return edits.start(hierarchy=self.named, name=given["name"], author=self.author)

    def partial_update(self, request: Request, **place: Any) -> Response:
        """Rename the draft; actions change its tree."""
        found, actor = self.editable(place["name"], place["pk"])
        given = read_body(self.body_class(data=request.data), request.data)
        self.as_read(found, lambda draft: edits.name_draft(draft=draft, name=given["name"], actor=actor))
        return self.answer(self.draft(place["name"], place["pk"]))

    def destroy(self, request: Request, **place: Any) -> Response:
        """Discard the draft."""
        del request
        found, actor = self.editable(place["name"], place["pk"])
        self.as_read(found, lambda draft: edits.discard(draft=draft, actor=actor))
        return Response(status=204)


class DraftActionsView(DraftsBase):
    """What is done to a draft."""

    actions = {"POST": "edit"}

    @extend_schema(
        operation_id="run_draft_action",
        parameters=[_IF_MATCH, DRAFT_ETAG],
        request=shapes.ANY_ACTION,
        responses={200: shapes.DraftActionResultSerializer, **_CLASHES},
    )
    def post(self, request: Request, name: str, pk: int) -> Response:
        """Run one action. Settings that are not valid are stored too and reported in `findings`."""
        found, actor = self.editable(name, pk)
        body = _body_of(request)
        given = read_body(body(data=request.data), request.data)
        row = self.as_read(found, lambda draft: ACTIONS[given["action"]](draft, actor, given))
        now = selectors.find(actor, found.hierarchy, pk)
        queue = next((one.path for one in queues_of(now) if one.row.pk == row), None)
        answered = {"queue": queue, "draft": whole(actor, now)}
        return Response(answered, headers={"ETag": selectors.tag(now)})


class DraftForecastView(DraftsBase):
    """What publishing a draft would do."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="forecast_draft",
        responses={
            200: shapes.DraftForecastSerializer,
            (422, problems.MEDIA_TYPE): problems.ProblemSerializer,
        },
    )
    def get(self, request: Request, name: str, pk: int) -> Response:
        """What the draft would preempt now, without settings that are not valid."""
        found = self.draft(name, pk)
        state = selectors.state(found)
        tree = state.tree
        if tree is None or any(note.field in {"policy", "dialect"} for note in state.errors):
            raise Unacceptable(
                [{"detail": _("The draft's queues do not form a tree, or its policy or dialect is unknown.")}]
            )
        used = clusters.using(request.user, found.hierarchy)
        rows = [outlook(cluster, tree, state.terms, self.scope) for cluster in used]
        return Response(represent(shapes.DraftForecastSerializer, {"forecasts": rows}))


class DraftPublishView(DraftsBase):
    """The end of a draft."""

    actions = {"POST": "edit"}

    @extend_schema(
        operation_id="publish_draft",
        parameters=[_IF_MATCH],
        request=shapes.PublishSerializer,
        responses={200: shapes.PublishedRevisionSerializer, **_CLASHES},
    )
    def post(self, request: Request, name: str, pk: int) -> Response:
        """Publish the draft as you read it."""
        found, actor = self.editable(name, pk)
        said = read_body(shapes.PublishSerializer(data=request.data), request.data)
        made = self.as_read(
            found, lambda draft: edits.publish_draft(draft=draft, version=draft.version, actor=actor, **said)
        )
        return Response({"revision": made.number})


def _body_of(request: Request) -> type[shapes.SimpleActionSerializer]:
    """The shape of the act that a body names. Raises Unacceptable."""
    if not isinstance(request.data, dict):
        return shapes.SimpleActionSerializer  # which refuses it
    act = request.data.get("action")
    body = shapes.BODIES.get(act) if isinstance(act, str) else None
    if body is None:
        known = ", ".join(shapes.BODIES)
        detail = _("There is no action %(name)s. Valid actions: %(known)s.") % {"name": act or "–", "known": known}
        raise Unacceptable([{"detail": detail, "pointer": "/action"}])
    return body


def _refused(error: Any) -> problems.Refusal:
    """What a service turned away, with its sentences."""
    if isinstance(error, ValidationError):
        return unacceptable(error)
    if isinstance(error, ImportFailure):
        return Unacceptable([{"detail": said(note), "queue": note.path} for note in error.notes])
    if isinstance(error, OutdatedError):
        return Unacceptable(
            [{"detail": _("Another revision was published in the meantime. Merge it into this draft first.")}]
        )
    if isinstance(error, ConflictError):
        who = error.by or _("Someone else")
        text = _("%(who)s changed this in the meantime (now: %(now)s). Nothing was overwritten.") % {
            "who": who,
            "now": error.now,
        }
        return Unacceptable([{"detail": text}])
    return Unacceptable([{"detail": _("This queue does not exist, or you can't change it.")}])
