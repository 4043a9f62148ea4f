"""How much one person may upload within an hour, and let us work within a minute, by page and REST."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import time_machine
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from tests.api.conftest import client_of as token_of
from tests.pages import rows

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
    assert "You have reached the upload limit per hour." in answers[-1].content.decode()
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


class TestWork:
    """CPU time of a web process, reading what was sent included."""

    @pytest.fixture(autouse=True)
    def _slow(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Each request keeps a core busy for 0.6 s."""
        settings.WORK_S_A_MINUTE = 1
        times = count(step=0.6)
        monkeypatch.setattr("scheduler_admin.site.allowances.thread_time", lambda: next(times))
        with time_machine.travel("2026-01-05T12:00:20Z", tick=False) as self.clock:
            yield

    def test_who_takes_too_much_waits_for_the_next_minute(self, cluster: Cluster, ada: Client, otto: Client) -> None:
        """Before anything is done for them; nobody else does."""
        answers = [ada.get("/clusters/") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[-1]["Retry-After"] == "40"
        assert "Try again in 1 minute." in answers[-1].content.decode()
        assert otto.get("/clusters/").status_code == 200
        self.clock.shift(40)
        assert ada.get("/clusters/").status_code == 200

    def test_so_does_a_token_by_itself(self, cluster: Cluster, ada: Client) -> None:
        """In problem details; a person and each of their tokens are counted apart."""
        api = token_of(User.objects.get(username="ada"))
        answers = [api.get("/api/v1/clusters") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert (answers[-1]["Retry-After"], answers[-1]["Content-Type"]) == ("40", "application/problem+json")
        assert ada.get("/clusters/").status_code == 200

    def test_who_is_not_signed_in_is_counted_nowhere(self, client: Client, cluster: Cluster) -> None:
        """There is nothing that takes long."""
        assert [client.get("/sign-in/").status_code for _ in range(4)] == [200] * 4

    def test_0_is_no_limit(self, cluster: Cluster, ada: Client, settings: Any) -> None:
        settings.WORK_S_A_MINUTE = 0
        assert [ada.get("/clusters/").status_code for _ in range(4)] == [200] * 4
