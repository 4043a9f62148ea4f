"""Which decisions are the newest about any of several names: each name's are a look at one index, however many."""

from collections.abc import Sequence
from typing import Any

from django.db import connections
from django.db.models import Q, QuerySet

from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.decisions.models import Mention
from scheduler_admin.decisions.models.names import Kind, number_of

_AT_ONCE = 100
"""Names of one query: a statement of SQLite joins no more than 500."""


def numbers_of(scope: Scope, cluster: int) -> list[int]:
    """What every decision of a cluster is about that whoever does not see everything sees, as Mention has it."""
    if scope.namespaces is not None:
        return [number_of(cluster, Kind.NAMESPACE, name) for name in sorted(scope.namespaces)]
    return [number_of(cluster, Kind.QUEUE, path) for path in sorted(scope.subtrees)]


def newest_about(numbers: Sequence[int], which: Q, limit: int) -> list[int]:
    """The newest decisions (ids, newest first, at most ``limit``) about any of these; ``which``: of their mentions.

    A query a hundred names. No query of Django's own does it: the newest of each, and of those the newest.
    """
    mentions = Mention.objects.filter(which).order_by("-first_seen", "-decision").values_list("first_seen", "decision")
    return newest_of([mentions.filter(about=number) for number in numbers], limit)


def newest_of(sources: "Sequence[QuerySet[Any, Any]]", limit: int) -> list[int]:
    """The newest decisions of several lists, each of (first_seen, id) and in that order, the newest first."""
    found: set[tuple[object, int]] = set()
    for at in range(0, len(sources), _AT_ONCE):
        found.update(_newest(sources[at : at + _AT_ONCE], limit))
    return [pk for _at, pk in sorted(found, reverse=True)[:limit]]


def _newest(sources: "Sequence[QuerySet[Any, Any]]", limit: int) -> list[tuple[object, int]]:
    parts, params = list[str](), list[Any]()
    for source in sources:
        part, given = source[:limit].query.sql_with_params()
        parts.append(f"SELECT * FROM ({part}) AS own")  # noqa: S608 - what Django wrote, its values apart
        params += given
    # One about two of them is in it once.
    statement = f"{' UNION '.join(parts)} ORDER BY 1 DESC, 2 DESC LIMIT {limit:d}"
    with connections[sources[0].db].cursor() as cursor:
        cursor.execute(statement, params)
        return [(at, pk) for at, pk in cursor.fetchall()]
