"""How much one person may upload within an hour: so many megabytes, by page and REST together."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from tests.api.conftest import client_of as token_of
from tests.web import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    return rows.cluster("demo")


@pytest.fixture(autouse=True)
def _few(settings: Any) -> Iterator[None]:
    settings.UPLOAD_MB_AN_HOUR = 4
    caches["limits"].clear()
    yield
    caches["limits"].clear()


def upload(client: Client, size: int) -> Any:
    """A file that is none of ours."""
    file = SimpleUploadedFile("x.zip", b"0" * size)
    return client.post("/clusters/demo/snapshots/", {"act": "upload", "name": "x", "file": file})


def test_beyond_it_one_waits(cluster: Cluster, ada: Client, otto: Client) -> None:
    """Who has used it up, and nobody else; small forms are not counted."""
    answers = [upload(ada, 1_500_000) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [422, 422, 429, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 3600
    assert "as much as one person may within an hour" in answers[-1].content.decode()
    assert upload(ada, 1_000).status_code == 422
    assert upload(otto, 1_500_000).status_code == 422


def test_rest_counts_as_well(cluster: Cluster, ada: Client) -> None:
    api = token_of(User.objects.get(username="ada"), scopes=["cluster:operate"])
    address = "/api/v1/clusters/demo/snapshots/upload?name=x"
    sent = [api.post(address, b"0" * 2_500_000, content_type="application/zip") for _ in range(2)]
    assert [answer.status_code for answer in sent] == [422, 429]
    assert int(sent[-1]["Retry-After"]) > 0
    assert upload(ada, 1_500_000).status_code == 429


def test_0_is_no_limit(cluster: Cluster, ada: Client, settings: Any) -> None:
    settings.UPLOAD_MB_AN_HOUR = 0
    assert [upload(ada, 2_500_000).status_code for _ in range(3)] == [422] * 3
