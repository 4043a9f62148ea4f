"""The command line in a pipeline that stores no token: the platform of the pipeline issues one for each run."""

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.core.cache import cache

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.accounts.services.users import service_account
from scheduler_admin.accounts.services.workload_identities import create_identity
from scheduler_admin.clusters.models import Cluster
from tests.api.builders import NOW
from tests.client.conftest import Run
from tests.doors.issuer import MAIN, Issuer, issuing

pytestmark = pytest.mark.django_db(transaction=True)
APPLY = ("apply", "prod-tree", "queues.yaml", "--reason", "more for batch")


@pytest.fixture
def issuer(site: Cluster, live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    """An issuer whose tokens of the main branch may publish trees. The environment has no token of ours."""
    settings.ISSUER_NETWORKS = [ip_network("127.0.0.0/8")]
    for name in ("SCHEDULER_ADMIN_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    cache.clear()
    with issuing() as issuer, time_machine.travel(NOW, tick=False):
        create_identity(
            name="queues",
            user=service_account(name="pipelines", role=User.Role.ADMIN),
            issuer=issuer.address,
            audience=live_server.url,
            claims={"sub": MAIN},
            scopes=["tree:write"],
            actor=None,
            reason="why",
        )
        yield issuer
    cache.clear()


def test_a_gitlab_job_applies_with_the_token_of_its_id_tokens(
    issuer: Issuer, run: Run, queues: Path, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its variable has the token."""
    monkeypatch.setenv("SCHEDULER_ADMIN_ID_TOKEN", issuer.token(aud=live_server.url))
    said = run(*APPLY)
    assert (said.code, said.err) == (0, "")
    assert AuditEvent.objects.filter(verb="tree.publish", details__subject=MAIN).exists()


def test_a_github_job_asks_github_for_a_token(
    issuer: Issuer, run: Run, queues: Path, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the address of the site, with the secret that GitHub gives the job."""
    issuer.answers["/token?api-version=2.0&audience=" + parse_quoted(live_server.url)] = {
        "value": issuer.token(aud=live_server.url)
    }
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", f"{issuer.address}/token?api-version=2.0")
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "of the job")
    said = run(*APPLY)
    assert (said.code, said.err) == (0, "")
    asked = next(path for path in issuer.asked if path.startswith("/token"))
    assert parse_qs(urlsplit(asked).query)["audience"] == [live_server.url]


def test_a_token_of_another_branch_is_refused(
    issuer: Issuer, run: Run, queues: Path, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says why, and not the token."""
    token = issuer.token(aud=live_server.url, sub="repo:example/queues:pull_request")
    monkeypatch.setenv("SCHEDULER_ADMIN_ID_TOKEN", token)
    said = run(*APPLY)
    assert (said.code, "no workload identity matches its claims" in said.err) == (1, True)
    assert token not in said.out + said.err


def test_without_any_token_it_says_where_one_can_come_from(
    issuer: Issuer, run: Run, queues: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where GitHub issues none."""
    assert "--token-file or SCHEDULER_ADMIN_TOKEN" in run(*APPLY).err
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", f"{issuer.address}/nothing")
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "of the job")
    assert "GitHub did not issue an ID token" in run(*APPLY).err


def parse_quoted(address: str) -> str:
    """An address as a part of a query."""
    return address.replace(":", "%3A").replace("/", "%2F")
