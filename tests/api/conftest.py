"""Alice (owner), Bob (her teammate), Charlie (stranger), Olga (operator) and Ada (admin): clients that send tokens."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.urls import resolve
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.problems.types import PREFIX
from tests.api import builders
from tests.api.builders import RED
from tests.api.sending import PROD, own_form, queue_of
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(builders.NOW, tick=False):
        yield


@pytest.fixture(autouse=True)
def _plain_http(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False
    settings.WHITENOISE_AUTOREFRESH = True  # else it looks for collected static files


HEADERS = {201: "Location", 401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}


@pytest.fixture(autouse=True)
def _with_their_headers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test asks for: answers have the header that belongs to their status, and problems their type."""
    wrong = []
    finalize = ApiView.finalize_response

    def watched(view: ApiView, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        answer = finalize(view, request, response, *args, **kwargs)
        header = HEADERS.get(answer.status_code)
        lacks = header is not None and header not in answer
        place = urlsplit(answer.get("Location", "/api/v1/clusters")).path
        nowhere = resolve(place).url_name == "nothing"
        untyped = answer.status_code >= 400 and not answer.data["type"].startswith(PREFIX)
        if lacks or nowhere or untyped:
            wrong.append(f"{answer.status_code} {request.method} {request.path}")
        return answer

    monkeypatch.setattr(ApiView, "finalize_response", watched)
    yield
    assert wrong == []


def client_of(user: User, **limits: Any) -> APIClient:
    """A client that sends a token of the user's; ``scopes`` and ``subtree`` limit it."""
    _token, plaintext = create_token(user=user, name="test", **limits)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {plaintext}")


@pytest.fixture
def cluster(db: None) -> Cluster:
    return builders.cluster()


@pytest.fixture
def red(db: None) -> Any:
    return builders.red_tenant()


@pytest.fixture
def alice(red: Any) -> APIClient:
    return client_of(builders.user("alice", red))


@pytest.fixture
def bob(red: Any) -> APIClient:
    return client_of(builders.user("bob", red))


@pytest.fixture
def charlie(db: None) -> APIClient:
    return client_of(builders.user("charlie"))


@pytest.fixture
def olga(db: None) -> APIClient:
    return client_of(builders.user("olga", role=User.Role.OPERATOR))


@pytest.fixture
def ada(db: None) -> APIClient:
    """Her token may write trees."""
    return client_of(builders.user("ada", role=User.Role.ADMIN), scopes=["tree:write"])


@pytest.fixture
def slower(cluster: Cluster, ada: APIClient) -> Any:
    """The tree in force with one delay changed."""
    form = own_form(ada)
    queue_of(form, RED)["delay"] = "6s"
    return form


@pytest.fixture
def tag(cluster: Cluster, ada: APIClient) -> str:
    """The ETag of the tree in force."""
    return str(ada.get(PROD)["ETag"])


@pytest.fixture
def busy(db: None) -> Cluster:
    """Test holds all of a node and is promised all of it; Prod asks in vain. A pass has read it."""
    shape = tree({"prod": queue("2", delay_ms=1), "test": queue("4", delay_ms=1)})
    cluster = add_cluster(shape, mode="observe")
    pods = [pod(f"test-{number}", queue="test", node="n1", app="etl", namespace="canary-ns") for number in range(4)]
    run(cluster, Watch(node("n1", 4), pods, ask("prod-0", queue="prod")))
    return cluster
