"""Resources of the API: rows of one kind, read by the queryset that the reader may see and written by services."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from http import HTTPStatus
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import GenericViewSet

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.base import ApiView, check_declared
from scheduler_admin.rest.bodies import named_as_sent, read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.filters import FilterBackend, Parameters
from scheduler_admin.rest.locations import location
from scheduler_admin.rest.media import JsonRenderer
from scheduler_admin.rest.pagination import NewestFirst, next_link


class NewestPages(BasePagination):
    """Pages that stay put while rows come in: the newest by the view's ``newest_by`` first."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the page that the query asks for."""
        rows, place = NewestFirst(view.asked, by=view.newest_by).page(queryset)
        self._next = next_link(request, place)
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        """Return the rows with the address of the next page; null on the last."""
        return Response({"next": self._next, "results": data})


class NumberedPages(BasePagination):
    """Pages of rows that are numbered by the view's ``newest_by``: the highest number first."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the page that the query asks for."""
        limit, by = view.asked["limit"], view.newest_by
        if "cursor" in view.asked:
            queryset = queryset.filter(**{f"{by}__lt": view.asked["cursor"]})
        found = list(queryset.order_by(f"-{by}")[: limit + 1])
        self._next = next_link(request, getattr(found[limit - 1], by) if len(found) > limit else None)
        return found[:limit]

    def get_paginated_response(self, data: Any) -> Response:
        """Return the rows with the address of the next page; null on the last."""
        return Response({"next": self._next, "results": data})


class NewestRows(BasePagination):
    """The newest rows alone, by the view's ``newest_by``: as many as its ``most``."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the newest rows."""
        del request
        return list(queryset.order_by(f"-{view.newest_by}")[: view.most])

    def get_paginated_response(self, data: Any) -> Response:
        """Return the rows."""
        return Response({"results": data})


class ResourceViewSet(ApiView, GenericViewSet[Any]):
    """Rows of one kind. A view set says which rows, how they are sent, and what may be done to them."""

    resource: ClassVar[tuple[str, str]]
    """Its name, for one and for several, in the operations of the OpenAPI document."""
    operations: ClassVar[Mapping[str, str]] = {}
    """Action -> its operation in the OpenAPI document, where its name is not made of a verb and the resource."""
    list_class: ClassVar[type[serializers.Serializer[Any]]]
    """A page of rows as it is sent."""
    body_class: ClassVar[type[serializers.Serializer[Any]]]
    """What is sent to make or change a row."""
    filter_backends = [FilterBackend]
    filterset_class: ClassVar[type[Parameters] | None] = None
    """The query parameters of the list that filter it."""
    pagination_class: type[BasePagination] | None = None
    newest_by: ClassVar[str] = "pk"
    most: ClassVar[int]
    """Rows of a list without further pages."""
    lookup_value_converter = "int"

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """Return the view of some methods. Raises TypeError for a method whose action is not declared."""
        check_declared(cls, {*(actions or ())} - {"head"})
        return super().as_view(actions, **initkwargs)

    def get_queryset(self) -> QuerySet[Any]:
        """Return the rows that the reader may see."""
        rows: Any = super().get_queryset()
        found: QuerySet[Any] = rows.restrict(self.request.user, "view")
        return found

    def check_parent(self) -> None:
        """Raise Http404 where there is nothing of what the address names above the rows."""

    def location_of(self, row: Any) -> dict[str, str]:
        """Return the header with the URL of a row."""
        return location(self.request, f"{self.basename}-detail", **{**self.kwargs, self.lookup_field: self.key_of(row)})

    def key_of(self, row: Any) -> Any:
        """Return what the address of a row names it by."""
        return getattr(row, self.lookup_field)

    def alone(self) -> AbstractContextManager[Any]:
        """Return what keeps others out while a row is checked and then changed."""
        return nullcontext()

    def get_body_class(self) -> type[serializers.Serializer[Any]]:
        """Return what is sent for the action."""
        return self.body_class

    def query_of(self, method: str) -> type[serializers.Serializer[Any]] | None:
        """Return what the query of a method may hold; that of GET is the list's alone."""
        return None if self.action == "retrieve" else super().query_of(method)

    def filter_names(self) -> set[str]:
        """Return the query parameters of the list that its filters read."""
        filters = self.filterset_class
        return {*filters.base_filters} if filters and self.action == "list" else set()


class InCluster(ResourceViewSet):
    """Rows of the cluster that the address names."""

    @cached_property
    def named_cluster(self) -> Cluster:
        """The cluster with its status and revision. Raises Http404."""
        return self.cluster(self.kwargs["name"])

    def check_parent(self) -> None:
        """Raise Http404 where there is no such cluster, or none that the reader may see."""
        self.cluster(self.kwargs["name"])

    def get_queryset(self) -> QuerySet[Any]:
        """Return the cluster's rows that the reader may see."""
        return super().get_queryset().filter(cluster=self.named_cluster)


class Listed(ResourceViewSet):
    """``GET`` of all rows, or of a page of them."""

    def list(self, request: Request, **_place: Any) -> Response:
        """Return the rows that the reader may see and asked for."""
        del request
        rows = self.filter_queryset(self.get_queryset())
        page = self.paginate_queryset(rows)
        context = self.get_serializer_context()
        if page is None:
            return Response(represent(self.list_class, {"results": rows}, **context))
        sent = represent(self.list_class, {"next": None, "results": page}, **context)
        return self.get_paginated_response(sent["results"])


class Retrieved(ResourceViewSet):
    """``GET`` of one row."""

    def retrieve(self, request: Request, **_place: Any) -> Response:
        """Return one row."""
        del request
        return self.answer(self.get_object())

    def answer(self, row: Any, status: int = 200) -> Response:
        """Return one row as it is now."""
        return Response(self.get_serializer(row).data, status=status, headers=self.answer_headers(row, status))

    def answer_headers(self, row: Any, status: int) -> dict[str, str]:
        """Return the headers of an answer that shows one row: its ETag, and its URL if it is new."""
        tag = self.headers_of(row) if isinstance(self, Tagged) else {}
        return tag | (self.location_of(row) if status == HTTPStatus.CREATED else {})


class Created(Retrieved):
    """``POST`` of a new row."""

    def create(self, request: Request, **_place: Any) -> Response:
        """Make a row."""
        self.check_parent()
        body = self.get_body_class()(data=request.data)
        given = read_body(body, request.data)
        with named_as_sent(body):
            made = self.make(given)
        return self.answer(made, status=201)

    def make(self, given: dict[str, Any]) -> Any:
        """Make a row of what was sent. Raises ValidationError."""
        raise NotImplementedError


class Changed(Retrieved):
    """``PATCH`` of one row."""

    def partial_update(self, request: Request, **_place: Any) -> Response:
        """Change what is given."""
        with self.alone():
            row = self.get_object()
            body = self.get_body_class()(row, data=request.data, partial=True)
            given = read_body(body, request.data)
            if isinstance(self, Tagged):
                self.check_read(row)
            with named_as_sent(body):
                changed = self.change(row, given)
            return self.answer(changed)

    def change(self, row: Any, given: dict[str, Any]) -> Any:
        """Change a row to what was sent. Raises ValidationError."""
        raise NotImplementedError


class Destroyed(ResourceViewSet):
    """``DELETE`` of one row."""

    def destroy(self, request: Request, **_place: Any) -> Response:
        """Take one row away."""
        del request
        with self.alone():
            row = self.get_object()
            if isinstance(self, Tagged):
                self.check_read(row)
            self.remove(row)
        return Response(status=204)

    def remove(self, row: Any) -> None:
        """Take a row away. Raises ValidationError."""
        raise NotImplementedError


class AsRead(ResourceViewSet, Tagged):
    """Rows that are changed and deleted only as they were read. Nobody else writes one between check and change.

    Stands before the classes with the methods.
    """

    if_match_description = "ETag of the object as you read it."

    def get_object(self) -> Any:
        """Return the row: where it is changed, locked and then read, so that what it is joined to is as of now, too."""
        row = super().get_object()
        if self.action not in {"partial_update", "destroy"}:
            return row
        type(row)._default_manager.select_for_update().filter(pk=row.pk).first()  # noqa: SLF001 - documented
        return super().get_object()

    def alone(self) -> AbstractContextManager[Any]:
        """Return a transaction."""
        return transaction.atomic()

    def tag_of(self, found: Any) -> str:
        """Return the ETag of a row: of all that is sent of it."""
        return entity_tag(JsonRenderer().render(self.get_serializer(found).data))


def router() -> SimpleRouter:
    """Return a router whose addresses end without a slash and may have places in their prefix, as in ``path()``."""
    return SimpleRouter(trailing_slash=False, use_regex_path=False)
