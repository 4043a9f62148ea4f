"""PostgreSQL and Redis stop under a running site: it says so, and serves again as soon as they are back."""

import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scheduler_admin.core.outages import RETRY_S
from tests import postgres
from tests.e2e.product import Product
from tests.stores import store
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.e2e]
PAGES = ("/sign-in/", "/clusters/")
ROUTES = ("/api/v1/clusters", "/api/v1/hierarchies")


@dataclass(frozen=True)
class Site:
    """The site, and the folder of its database."""

    product: Product
    database: Path

    def status(self, path: str) -> int:
        """Return the status of a response. A 503 must say when to try again."""
        status, again, _body = self.ask(path)
        assert (status == 503) == (again == str(RETRY_S)), path
        return status

    def ask(self, path: str) -> tuple[int, str | None, Any]:
        """Return status, Retry-After and body, as somebody who may read everything."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.product.port}{path}",
            headers={"Authorization": f"Bearer {self.product._token}", "Cookie": f"sessionid={self.product.session}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.headers["Retry-After"], answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Retry-After"], error.read()

    def checks(self) -> dict[str, str]:
        """Return the checks of /readyz."""
        found: dict[str, str] = json.loads(self.ask("/readyz")[2])["checks"]
        return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A web server with a PostgreSQL of its own."""
    if postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as address:
        product = Product(tmp_path_factory.mktemp("outages"), store(Path(folder) / "outages", address))
        try:
            product.start("web")
            assert product.session
            running = Site(product, Path(folder))
            wait_for(lambda: _ready(running), "The site")
            yield running
        finally:
            product.stop()


def _ready(site: Site) -> bool:
    try:
        return site.ask("/readyz")[0] == 200
    except OSError:
        return False


def test_postgresql_stops_and_comes_back(site: Site) -> None:
    """Every page and route answers 503 meanwhile, and the first request afterwards is answered as before."""
    before = {path: site.status(path) for path in (*PAGES, *ROUTES)}
    assert set(before.values()) <= {200, 302}
    for _thread in range(40):
        site.status(PAGES[1])  # so that every thread keeps a connection
    postgres.stop(site.database)
    try:
        assert site.status("/livez") == 200
        assert site.checks() == {"database": "unavailable", "migrations": "unavailable", "broker": "ok"}
        assert {path: site.status(path) for path in (PAGES[1], ROUTES[0])} == dict.fromkeys((PAGES[1], ROUTES[0]), 503)
        assert {site.status(path) for path in (*PAGES, *ROUTES)} <= {200, 302, 503}
        assert json.loads(site.ask(ROUTES[0])[2])["status"] == 503
    finally:
        postgres.start(site.database)
    assert {path: site.status(path) for path in before} == before
    assert {site.status(PAGES[1]) for _thread in range(40)} == {200}


def test_redis_stops_and_comes_back(site: Site) -> None:
    """Pages and the REST API need no Redis. The broker's check names it."""
    site.product.end("redis")
    try:
        assert {site.status(path) for path in (*PAGES, *ROUTES)} <= {200, 302}
        assert site.checks() == {"database": "ok", "migrations": "ok", "broker": "unavailable"}
        assert site.status("/readyz?exclude=broker") == 200
    finally:
        site.product.children.start("redis", site.product.command("redis"))
    wait_for(lambda: site.status("/readyz") == 200, "Redis")
