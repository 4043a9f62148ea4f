"""One's own filters of a cluster's history, by the names that one gave them."""

from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import User
from scheduler_admin.core import limits
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.selectors.filters import Filters
from scheduler_admin.decisions.services.saved_filters import save_filter
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM
from scheduler_admin.rest.problems import unacceptable


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """Filters by a name."""

    class Meta:
        model = SavedFilter
        fields = ["id", "name", "address"]
        read_only_fields = fields
        extra_kwargs = {"address": {"help_text": "What stands after the `?` of History: queue=root.a&range=7d."}}


class NewSavedFilterSerializer(serializers.Serializer[Any]):
    """Which filters, and what they are to be called."""

    name = serializers.CharField(max_length=limits.FILTER_NAME)
    address = serializers.CharField(
        max_length=limits.FILTER_ADDRESS,
        help_text="As History has it. What it does not know is left out, and so are defaults.",
    )


class SavedFiltersSerializer(serializers.Serializer[Any]):
    """All that one kept of a cluster, by name."""

    results = SavedFilterSerializer(many=True)


class _SavedFiltersView(ApiView):
    """What both share."""

    staff_only = True


class SavedFiltersView(_SavedFiltersView):
    """All of a cluster."""

    actions = {"GET": "view", "POST": "view"}

    @extend_schema(
        operation_id="list_saved_filters",
        tags=["decisions"],
        parameters=[CLUSTER],
        responses={200: SavedFiltersSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Your own, whatever your role: nobody sees another's."""
        rows = SavedFilter.objects.restrict(request.user, "view").filter(cluster=self.cluster(name))
        return Response(SavedFiltersSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="save_filter",
        tags=["decisions"],
        parameters=[CLUSTER],
        request=NewSavedFilterSerializer,
        responses={201: SavedFilterSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        """Keep some for yourself: they stand on the page History from then on."""
        cluster, owner = self.cluster(name), request.user
        assert isinstance(owner, User)
        given = read_body(NewSavedFilterSerializer(data=request.data), request.data)
        asked = dict(parse_qsl(given["address"]))
        if any("\0" in text for text in asked.values()):
            raise unacceptable(ValidationError({"address": ProhibitNullCharactersValidator.message}))
        filters = Filters.of(asked, timezone.now())
        made = save_filter(owner=owner, cluster=cluster, name=given["name"], filters=filters)
        return Response(SavedFilterSerializer(made).data, status=201)


class SavedFilterView(_SavedFiltersView):
    """Some by their name."""

    actions = {"DELETE": "view"}

    @extend_schema(
        operation_id="delete_saved_filter",
        tags=["decisions"],
        parameters=[CLUSTER],
        responses={204: None, **PROBLEM},
    )
    def delete(self, request: Request, name: str, pk: int) -> Response:
        """Forget them."""
        rows = SavedFilter.objects.restrict(request.user, "view").filter(cluster=self.cluster(name))
        get_object_or_404(rows, pk=pk).delete()
        return Response(status=204)
