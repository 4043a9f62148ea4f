"""What tenants and users share: admins write them, as they were read, and say why."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Changed, Created, Destroyed, Listed

WITH_REASON = {"POST": ReasonParameters, "PATCH": ReasonParameters, "DELETE": ReasonParameters}
"""What the queries of writing methods hold."""


class AdministeredViewSet(Listed, Created, Changed, Destroyed, Tagged):
    """Rows that admins create, change and delete. Nobody else writes one between its check and its change."""

    actions = {"GET": "view", "POST": "administer", "PATCH": "administer", "DELETE": "administer"}
    tag = "site"
    if_match_description = "ETag of the object as you read it."

    def locked(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows, locked where the request changes one."""
        return rows.select_for_update() if self.action in {"partial_update", "destroy"} else rows

    @transaction.atomic
    def partial_update(self, request: Request, **place: Any) -> Response:
        """Change what is given, while nobody else does."""
        return super().partial_update(request, **place)

    @transaction.atomic
    def destroy(self, request: Request, **place: Any) -> Response:
        """Delete a row, while nobody else changes it."""
        return super().destroy(request, **place)

    def tag_of(self, found: Any) -> str:
        """Return the ETag of a row: of all that is sent of it."""
        return entity_tag(JSONRenderer().render(self.get_serializer(found).data))

    @property
    def reason(self) -> str:
        """Why, for the audit log."""
        given: str = self.asked["reason"]
        return given
