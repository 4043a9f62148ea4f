"""Deleting much, without holding anybody up."""

from typing import Any

from django.db.models import QuerySet

_PIECE = 500


def drop(rows: QuerySet[Any]) -> None:
    """Delete in pieces, each a transaction of its own: passes write between them, and memory holds one."""
    while pks := list(rows.order_by().values_list("pk", flat=True)[:_PIECE]):
        QuerySet(rows.model).filter(pk__in=pks).delete()
