"""A draft that says what a document does, whoever's format it is in."""

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.formats.registry import LARGEST, Format
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.core import limits
from scheduler_admin.queues.api.documents import read_import
from scheduler_admin.queues.api.drafts import serializers as shapes
from scheduler_admin.queues.api.drafts.bodies import created
from scheduler_admin.queues.api.drafts.views import DRAFT_ETAG, DraftsBase
from scheduler_admin.queues.api.tree_serializers import TREE_BODY
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.services.imports import import_draft
from scheduler_admin.rest.media import OwnFormParser, YuniKornParser, body_of


class ImportParameters(serializers.Serializer[Any]):
    """How a document is taken over."""

    name = serializers.CharField(max_length=limits.DRAFT_NAME, help_text="Name of the draft.")
    format = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Format of a YAML document; by default, it is detected.",
    )


class DraftImportView(DraftsBase):
    """Drafts that come in documents."""

    actions = {"POST": "edit"}

    parser_classes = [OwnFormParser, YuniKornParser]
    largest = LARGEST

    queries = {"POST": ImportParameters}

    @extend_schema(
        operation_id="import_draft",
        parameters=[DRAFT_ETAG],
        request=TREE_BODY,
        responses={201: shapes.DraftDetailSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Create a draft from a document, which can have errors; they are listed in `findings`.

        To see in advance how queues are imported, send the document by PUT with `dry_run`. This requires the right to
        change the whole tree.
        """
        hierarchy = self.hierarchy(name)
        actor = self.editor()
        if not scope_of(actor, "edit").everything:
            raise PermissionDenied
        imported, text = read_import(body_of(request), hierarchy.capacity, self.asked["format"])
        made = import_draft(hierarchy=hierarchy, imported=imported, text=text, name=self.asked["name"], author=actor)
        made = selectors.find(actor, hierarchy, made.pk)
        return created(request, actor, made)
