"""`python -m tests.core.replica_reads`: which of two databases requests read from, one line for each kind of request.

A process of its own, as the databases are settings: DATABASE_URL and DATABASE_REPLICA_URL.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import django
import time_machine

ACCOUNTS = ('FROM "accounts_', 'FROM "django_session"')
NAMES = {"default": "primary", "replica": "replica"}


def main() -> None:
    """Fill the primary, wait for the replica, and send requests."""
    django.setup()
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - once Django is set up
    from django.core.management import call_command  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415

    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.core.database import replica  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    Cluster.objects.create(name="east")
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.create_user("ada", role="admin"))
    caught_up()
    page, accounts = read(lambda: client.get("/clusters/east/history/"))
    rest, _accounts = read(lambda: client.get("/api/v1/clusters/east/decisions"))
    tell("page", page)
    tell("REST", rest)
    tell("accounts and sessions", accounts)
    tell("saved, then read", sent("POST", saved))
    tell("another request right after", sent("GET", listed))
    with time_machine.travel(timezone.now() + timedelta(seconds=replica.AFTER_WRITES_S + 1)):
        tell("later", sent("GET", listed))
        with patch.object(replica, "_BEHIND_S", -1):
            tell("replica is too far behind", sent("GET", listed))
        with unreachable():
            tell("replica does not answer", sent("GET", listed))


def saved() -> None:
    """Change something, and read."""
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415

    Cluster.objects.create(name="west")
    listed()


def listed() -> None:
    """Only read."""
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415

    list(Cluster.objects.all())


def sent(method: str, work: Callable[[], None]) -> set[str]:
    """The databases that a request reads clusters from, in a process that knows nothing of the replica yet."""
    from django.http import HttpRequest, HttpResponse  # noqa: PLC0415
    from django.test import RequestFactory  # noqa: PLC0415

    from scheduler_admin.core.database.replica import reading  # noqa: PLC0415

    def respond(_request: HttpRequest) -> HttpResponse:
        work()
        return HttpResponse()

    others, _accounts = read(lambda: reading(respond)(RequestFactory().generic(method, "/")))
    return others


def read(request: Callable[[], Any]) -> tuple[set[str], set[str]]:
    """The databases that a request reads its data from, and those of accounts and sessions."""
    from django.db import connections  # noqa: PLC0415

    others, accounts = set[str](), set[str]()

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT") and ' FROM "' in sql:
            (accounts if any(one in sql for one in ACCOUNTS) else others).add(context["connection"].alias)
        return execute(sql, params, many, context)

    with connections["default"].execute_wrapper(note), connections["replica"].execute_wrapper(note):
        response = request()
    assert response.status_code == 200, response
    return others, accounts


def tell(what: str, found: set[str]) -> None:
    """Print a line."""
    print(f"{what}: {' and '.join(sorted(NAMES[one] for one in found))}")  # noqa: T201 - what this program is for


def caught_up() -> None:
    """Wait until the replica has all that the primary has."""
    from django.db import connections  # noqa: PLC0415

    from tests.waiting import wait_for  # noqa: PLC0415

    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()")
        (written,) = cursor.fetchone()

    def all_there() -> bool:
        with connections["replica"].cursor() as cursor:
            cursor.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [written])
            return bool(cursor.fetchone()[0])

    wait_for(all_there, "The replica")


@contextmanager
def unreachable() -> Iterator[None]:
    """The replica is where nobody answers."""
    from django.db import connections  # noqa: PLC0415

    connections["replica"].close()
    with patch.dict(connections["replica"].settings_dict, {"HOST": "/nowhere"}):
        yield


if __name__ == "__main__":
    main()
