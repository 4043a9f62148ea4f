"""What the OpenAPI document says of the views, and drf-spectacular cannot find out by itself."""

from inspect import getdoc
from typing import Any, TypeGuard

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_serializer

from scheduler_admin.rest import idempotency
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.openapi.parts import describe_refusals, etag, if_match
from scheduler_admin.rest.openapi.summaries import SUMMARIES
from scheduler_admin.rest.viewsets import ResourceViewSet

_VERBS = {"list": "list", "retrieve": "get", "create": "create", "partial_update": "update", "destroy": "delete"}
_METHODS = {"create": "make", "partial_update": "change", "destroy": "remove"}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its __init_subclass__ is untyped
    """How the OpenAPI document names bearer tokens."""

    target_class = "scheduler_admin.accounts.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """The HTTP bearer scheme."""
        del auto_schema
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token created with `manage.py create_token` or `POST /api/v1/tokens`, or the ID token "
            "of a pipeline that a workload identity names.",
        }


class RestSchema(AutoSchema):
    """What the OpenAPI document says of an operation, by what its view declares."""

    def get_operation_id(self) -> str:
        """Return what the view set calls the operation, or a verb and the name of the resource."""
        view = self.view
        if not isinstance(view, ResourceViewSet):
            return super().get_operation_id()
        if view.action in _VERBS and view.action not in view.operations:
            one, several = view.resource
            return f"{_VERBS[view.action]}_{several if view.action == 'list' else one}"
        return view.operations.get(view.action) or super().get_operation_id()

    def get_summary(self) -> str:
        """Return what the operation is for. Raises KeyError for an operation without a summary."""
        return SUMMARIES[self.get_operation_id()]

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        """Return the name without the word that drf-spectacular adds to what is sent."""
        return super().get_serializer_name(serializer, direction).removesuffix("RequestSerializer")

    def get_tags(self) -> list[str]:
        """Return the tag that the view declares."""
        return [self.view.tag] if isinstance(self.view, ApiView) and self.view.tag else super().get_tags()

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        """Return what an operation does: the docstring of the view set for its list, else that of the method."""
        view = self.view
        if not isinstance(view, ResourceViewSet):
            return super().get_description()
        if view.action == "list":
            return getdoc(type(view)) or ""
        names = (_METHODS.get(view.action, view.action), view.action)
        methods = (getattr(view, name) for name in names if hasattr(view, name))
        own = next((method for method in methods if method.__module__ != ResourceViewSet.__module__), None)
        return getdoc(own) or "" if own else f"One {view.resource[0].replace('_', ' ')}."

    def get_request_serializer(self) -> Any:
        """Return what is sent to make or change a row."""
        if not isinstance(self.view, ResourceViewSet):
            return super().get_request_serializer()
        if self.view.action == "create":
            return self.view.get_body_class()
        return self.view.get_body_class()(partial=True) if self.view.action == "partial_update" else None

    def get_response_serializers(self) -> Any:
        """Return what a view set answers with."""
        if not isinstance(self.view, ResourceViewSet):
            return super().get_response_serializers()
        if self.view.action == "list":
            return {200: extend_schema_serializer(many=False)(self.view.list_class)}
        one = self.view.get_serializer_class()
        return {"create": {201: one}, "destroy": {204: None}}.get(self.view.action, {200: one})

    def get_override_parameters(self) -> list[Any]:
        """Return the query that the view declares for the method, and the headers of what has an ETag."""
        view = self.view
        if not isinstance(view, ApiView):
            return super().get_override_parameters()
        query = view.query_of(self.method)
        found: list[Any] = [query] if query else []
        if isinstance(view, ResourceViewSet) and view.action == "list" and view.filterset_class:
            found.append(view.filterset_class.described())
        if _is_tagged(view):
            if self._changes_as_read():
                found.append(if_match(view.if_match_description, required=self._needs_match()))
            if self.method != "DELETE":
                found.append(etag(view.etag_description, 201 if _is_creation(view) else 200))
        return found

    def get_filter_backends(self) -> list[Any]:
        """Return none: what filters read is among the override parameters, with its lengths and bounds."""
        return []

    def _changes_as_read(self) -> bool:
        """Whether the operation changes what has an ETag, rather than making it."""
        return _is_tagged(self.view) and self.method in idempotency.WRITES and not _is_creation(self.view)

    def _needs_match(self) -> bool:
        """Whether a change without ``If-Match`` is refused."""
        return not (_is_tagged(self.view) and self.view.deletes_unread and self.method == "DELETE")

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return the operation with the answers to who may not do it, and with what its address is made of."""
        operation = super().get_operation(*args, **kwargs)
        if operation is None or not isinstance(self.view, ApiView):
            return operation
        describe_refusals(operation, "400", "401", "404", "429")
        if self.view.actions.get(self.method, "view") != "view" or self.method in idempotency.WRITES:
            describe_refusals(operation, "403")
        if self._changes_as_read():
            describe_refusals(operation, "412", *(["428"] if self._needs_match() else []))
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path" and "description" not in parameter:
                for part, text in _PLACES.items():
                    if f"{part}/{{{parameter['name']}}}" in self.path:
                        parameter["description"] = text
        return operation


def _is_creation(view: Any) -> bool:
    return isinstance(view, ResourceViewSet) and view.action == "create"


def _is_tagged(view: Any) -> TypeGuard[Tagged]:
    """Whether the operation is about one thing that has an ETag."""
    about_one = not isinstance(view, ResourceViewSet) or view.action in _VERBS.keys() - {"list"}
    return isinstance(view, Tagged) and about_one


_PLACES = {
    "/clusters": "Name of the cluster.",
    "/hierarchies": "Name of the hierarchy.",
    "/tenants": "Name of the tenant.",
    "/nodes": "Name of the node.",
    "/priority-classes": "Name of the priority class.",
    "/pods": "Namespace of the pod.",
    "/pods/{namespace}": "Name of the pod.",
    "/pending-workloads": "Namespace of the workload.",
    "/pending-workloads/{namespace}": "Name of the workload.",
    "/audit": "ID of the audit event.",
    "/comparisons": "ID of the comparison.",
    "/decisions": "ID of the decision.",
    "/drafts": "ID of the draft.",
    "/group-mappings": "ID of the group mapping.",
    "/notification-channels": "ID of the notification channel.",
    "/notifications": "ID of the notification.",
    "/passes": "ID of the pass.",
    "/pauses": "ID of the pause.",
    "/revisions": "Number of the revision.",
    "/saved-filters": "ID of the saved filter.",
    "/snapshots": "ID of the snapshot.",
    "/tokens": "ID of the token.",
    "/users": "ID of the user.",
    "/workload-identities": "ID of the workload identity.",
    "/windows": "ID of the eviction window.",
}
"""Part of an address -> what the name after it is."""
