"""No request whatever makes a server error, and every answer is as the OpenAPI document says: schemathesis asks.

It takes many minutes, so it is in the suite ``requests`` alone. tests/api/rest/test_openapi.py asks for
each answer once.
"""

import re
import socket
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from schemathesis.config import SchemathesisConfig
from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test
from schemathesis.schemas import BaseSchema

from tests.api.document import read
from tests.grid.addresses import Route
from tests.grid.conftest import World
from tests.grid.rules import GUESSES, names_of
from tests.grid.sides import Side

pytestmark = [pytest.mark.django_db, pytest.mark.suite("requests")]
DOCUMENT = read()
ENDLESS = "/api/v1/events"
"""A stream, which tests/api/decisions/test_events.py reads."""
PATHS = [path for path in DOCUMENT["paths"] if path != ENDLESS]
OPERATIONS = [f"{method.upper()} {path}" for path in PATHS for method in DOCUMENT["paths"][path]]
WILD = hypothesis.settings(max_examples=30, derandomize=True, database=None, deadline=None)
EVERY_EDGE, WILDLY = HypothesisTestMode.COVERAGE, HypothesisTestMode.FUZZING
ASKING = {"admin": [EVERY_EDGE, WILDLY], "tenant": [WILDLY], "anonymous": [WILDLY]}
"""Who asks, and how: at every edge of the schema, which takes thousands of requests, and this and that."""
CHECKS = {
    # Left out: a schema can't say which names exist, that one time comes before another, or where a page ended.
    "positive_data_acceptance": {"enabled": False},
    # That an ETag is no longer right, or a body too large, refuses as well as what schemathesis expects.
    "negative_data_rejection": {"expected-statuses": [*range(400, 418), 422, 428, 429]},
    "missing_required_header": {"expected-statuses": [400, 401, 403, 406, 415, 422, 428]},
}


def there(here: Side) -> dict[str, Any]:
    """Configuration of schemathesis: most addresses name what is there, and so do some queries and bodies."""
    guesses = {
        f"{place}.{word}": getattr(here, thing) for word, (thing, *_) in GUESSES.items() for place in ("query", "body")
    }
    named = {path: of_path(path, here) for path in PATHS}
    values = {
        **guesses,
        "header.If-Match": "*",
        **{f"{path} {name}": value for path, names in named.items() for name, value in names.items()},
    }
    return {
        "checks": CHECKS,
        "generation": {"with-security-parameters": False},
        "dictionaries": {name: {"values": [value]} for name, value in values.items()},
        "parameters": {name: {"dictionary": name, "probability": 0.5} for name in [*guesses, "header.If-Match"]},
        "operations": [
            {
                "include-path": path,
                "parameters": {name: {"dictionary": f"{path} {name}", "probability": 0.9} for name in names},
            }
            for path, names in named.items()
        ],
    }


def of_path(path: str, here: Side) -> dict[str, object]:
    """The parameters of an address, as schemathesis calls them, with what is here."""
    form = re.sub(r"{(\w+)}", r"%(\1)s", path.replace("{id}", "{pk}"))
    things = names_of(Route(path, "api", form, ()))
    return {f"path.{name.replace('pk', 'id')}": getattr(here, thing) for name, thing in things.items()}


@pytest.fixture(scope="module")
def api(world: World) -> Iterator[BaseSchema]:
    """The document, with the application that it is held against. Hosts that a body names lead nowhere."""
    schema = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig.from_dict(there(world.here)))
    schema.app = get_wsgi_application()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", nowhere)
        for signal in (request_started, request_finished):  # as Django's own test client does
            signal.disconnect(close_old_connections)
        yield schema
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def nowhere(*_address: object, **_kind: object) -> None:
    """No host has an address."""
    raise socket.gaierror


@pytest.mark.parametrize("person", ASKING)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_request_is_answered_as_documented(api: BaseSchema, world: World, operation: str, person: str) -> None:
    """With every status, type and header that it names; what the document forbids is refused. All is taken back."""
    headers = {"Authorization": f"Bearer {world.tokens[person]}"} if person in world.tokens else {}

    def ask(case: schemathesis.Case) -> None:
        with transaction.atomic():
            case.call_and_validate(headers=headers)
            transaction.set_rollback(True)

    # Explicit: what the loaded profile says, and hypothesis' default does not, would come before ``settings``.
    config = HypothesisTestConfig(project=api.config, modes=ASKING[person], explicit_settings=WILD)
    create_test(operation=api.find_operation_by_label(operation), test_func=ask, config=config)()
