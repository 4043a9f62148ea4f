"""Pipelines sign in with the ID tokens of their platform, which an issuer of the tests' own signs."""

import json
import time
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken, AuditEvent, User, WorkloadIdentity
from scheduler_admin.accounts.services.users import create_user, service_account
from scheduler_admin.accounts.services.workload_identities import change_identity, create_identity, delete_identity
from scheduler_admin.accounts.workloads.issuers import AGAIN_S, REMEMBERED_S
from tests.api import builders
from tests.api.conftest import client_of
from tests.doors.issuer import KEYS, MAIN, SITE, STRANGER, Issuer, issuing, published

pytestmark = pytest.mark.django_db
DISCOVERY, JWKS = "/.well-known/openid-configuration", "/keys"
TREE = "/api/v1/hierarchies/next/tree?reason=from%20CI"
SMALL = {"queues": [{"path": "root"}, {"path": "root.a", "guaranteed": {"cpu": "2"}}]}


@pytest.fixture(autouse=True)
def _local(settings: Any) -> Iterator[None]:
    """The issuer of the tests is on this machine, and nothing is known of it yet."""
    settings.SECURE_SSL_REDIRECT = False
    settings.ISSUER_NETWORKS = [ip_network("127.0.0.0/8")]
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture
def ci() -> User:
    """An admin's service account."""
    return service_account(name="ci", role=User.Role.ADMIN)


def trust(issuer: Issuer, account: User, **values: Any) -> WorkloadIdentity:
    """Let the main branch of a repository publish trees."""
    given = {"name": "queues", "claims": {"sub": MAIN}, "scopes": ["tree:write"], "audience": SITE, **values}
    return create_identity(user=account, **{"issuer": issuer.address, **given}, actor=None, reason="why")


def client(token: str) -> APIClient:
    """Somebody who sends a token."""
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {token}")


def refused(token: str, status: int = 401) -> str:
    """What is said to a token that is not good. The token is in no part of the answer."""
    answer = client(token).get("/api/v1/hierarchies")
    assert answer.status_code == status, answer.json()
    told = f"{answer.content.decode()}{answer.headers}"
    assert not any(part in told for part in token.split(".") if len(part) > 8)
    return str(answer.json()["detail"])


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_pipeline_publishes_a_tree_with_its_own_token(issuer: Issuer, ci: User, algorithm: str) -> None:
    """The audit log says which pipeline it was, and the identity who used it last."""
    trust(issuer, ci)
    token = issuer.token(algorithm)
    made = client(token).post(TREE, json.dumps(SMALL), content_type="application/json")
    assert made.status_code == 201, made.json()
    event = AuditEvent.objects.get(verb="tree.publish")
    assert (event.actor_name, event.reason) == ("service account ci", "from CI")
    assert {"workload_identity": "queues", "subject": MAIN}.items() <= event.details.items()
    used = WorkloadIdentity.objects.get()
    assert (used.last_subject, used.last_used_at is not None) == (MAIN, True)
    assert issuer.asked == [DISCOVERY, JWKS]
    assert client(token).get("/api/v1/hierarchies").status_code == 200
    assert issuer.asked == [DISCOVERY, JWKS]


def test_a_pipeline_does_what_its_scopes_and_its_account_allow(issuer: Issuer, ci: User) -> None:
    """A scope that is missing is named; tokens of its own would outlive it, so it makes none."""
    trust(issuer, ci, scopes=["tree:plan"], claims={"repository": "example/*", "ref": "refs/heads/main"})
    send = client(issuer.token())
    body = json.dumps(SMALL)
    assert send.post(f"{TREE}&dry_run=true", body, content_type="application/json").status_code == 200
    published_tree = send.post(TREE, body, content_type="application/json")
    assert (published_tree.status_code, published_tree.json()["type"].rpartition(":")[2]) == (403, "insufficient-scope")
    assert send.post("/api/v1/tokens", {"name": "mine"}, format="json").status_code == 403
    assert not ApiToken.objects.exists()


def test_a_pipeline_is_limited_to_a_subtree_and_to_tenants(issuer: Issuer) -> None:
    """As its service account's memberships, and the subtree of the identity, say."""
    cluster = builders.cluster()
    red = builders.red_tenant()
    account = create_user(username="red-ci", role=User.Role.TENANT, tenants=[red], service=True)
    identity = trust(issuer, account, scopes=["read"])
    queues = f"/api/v1/clusters/{cluster.name}/queues"
    seen = {row["path"] for row in client(issuer.token()).get(queues).json()["results"]}
    assert seen == {"root.red", "root.red.batch"}
    change_identity(identity=identity, values={"subtree": "root.red.batch"}, actor=None, reason="less")
    seen = {row["path"] for row in client(issuer.token()).get(queues).json()["results"]}
    assert seen == {"root.red.batch"}


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"exp": -61}, "expired"),
        ({"nbf": 120}, "could not be verified"),
        ({"iat": 120}, "could not be verified"),
        ({"aud": "https://other.example.com"}, "audience"),
        ({"aud": None}, "could not be verified"),
        ({"exp": None}, "could not be verified"),
        ({"sub": None}, "could not be verified"),
        ({"sub": "repo:example/queues:ref:refs/heads/other"}, "no workload identity matches"),
        ({"sub": "repo:example/queues:ref:refs/heads/main2"}, "no workload identity matches"),
        ({"sub": ["repo:example/queues:ref:refs/heads/main"]}, "could not be verified"),
    ],
)
def test_a_token_that_is_not_for_us_is_refused(issuer: Issuer, ci: User, claims: Any, why: str) -> None:
    """Whatever is wrong with it; times are seconds from now."""
    trust(issuer, ci)
    now = int(time.time())
    said = {name: now + value if isinstance(value, int) else value for name, value in claims.items()}
    assert why in refused(issuer.token(**said))


def test_an_audience_among_several_is_enough(issuer: Issuer, ci: User) -> None:
    """As RFC 7519 has it."""
    trust(issuer, ci)
    assert client(issuer.token(aud=["https://other.example.com", SITE])).get("/api/v1/hierarchies").status_code == 200


def test_a_token_that_its_issuer_did_not_sign_is_refused(issuer: Issuer, ci: User) -> None:
    """Not by another's key, not without one, not by a secret that everybody knows, not by another algorithm's key."""
    trust(issuer, ci)
    good = issuer.token()
    header, body, signature = good.split(".")
    forged = issuer.token(sub="x" + MAIN).split(".")[1]
    assert "could not be verified" in refused(issuer.token(key=STRANGER))
    assert "could not be verified" in refused(f"{header}.{forged}.{signature}")
    assert "algorithm" in refused(issuer.token("none", key=""))
    assert "algorithm" in refused(issuer.token("HS256", key="a secret of more than thirty-two bytes"))
    assert "does not have the key" in refused(issuer.token("ES256", headers={"kid": "RS256"}))
    assert refused(f"{header}.{body}.")


def test_an_issuer_that_nobody_trusts_is_not_asked(issuer: Issuer, ci: User) -> None:
    """Nor is anything that is no token; a locked service account trusts nobody."""
    identity = trust(issuer, ci)
    with issuing() as stranger:
        assert "unknown" in refused(stranger.token())
        assert stranger.asked == []
    for nothing in ("a.b.c", "..", "x" * 20_000, f"{'a' * 9000}.{'b' * 9000}.c"):
        assert "unknown" in refused(nothing)
    User.objects.filter(pk=ci.pk).update(is_active=False)
    assert "unknown" in refused(issuer.token())
    User.objects.filter(pk=ci.pk).update(is_active=True)
    delete_identity(identity=identity, actor=None, reason="over")
    assert "unknown" in refused(issuer.token())
    assert issuer.asked == []


def test_keys_are_read_again_when_there_are_new_ones_and_not_more_often(issuer: Issuer, ci: User) -> None:
    """A key that is not there is asked for once in a while; one that is withdrawn is good for ten minutes."""
    trust(issuer, ci)
    with time_machine.travel(time.time(), tick=False) as clock:
        issuer.answers[JWKS] = {"keys": published("RS256")}
        assert client(issuer.token()).get("/api/v1/hierarchies").status_code == 200
        for _ in range(3):
            assert "does not have the key" in refused(issuer.token("ES256"))
        assert issuer.asked.count(JWKS) == 1
        issuer.answers[JWKS] = {"keys": published("ES256")}
        clock.shift(AGAIN_S + 1)
        assert client(issuer.token("ES256")).get("/api/v1/hierarchies").status_code == 200
        assert issuer.asked.count(JWKS) == 2
        issuer.answers[JWKS] = {"keys": []}
        assert client(issuer.token("ES256")).get("/api/v1/hierarchies").status_code == 200
        clock.shift(REMEMBERED_S + 1)
        assert "does not have the key" in refused(issuer.token("ES256"))


@pytest.mark.parametrize(
    ("path", "answer", "why"),
    [
        (DISCOVERY, 500, "500"),
        (DISCOVERY, 302, "302"),
        (DISCOVERY, {"issuer": "https://other.example.com", "jwks_uri": "https://other.example.com"}, "something else"),
        (DISCOVERY, b"[]", "OpenID Connect"),
        (DISCOVERY, b"<html>", "OpenID Connect"),
        (JWKS, 404, "404"),
        (JWKS, b" " * (256 * 1024 + 1), "too large"),
        (JWKS, {"keys": "none"}, "does not have the key"),
        (JWKS, {"keys": [None, {"kid": "RS256", "kty": "RSA"}]}, "does not have the key"),
    ],
)
def test_an_issuer_that_errs_lets_nobody_in(issuer: Issuer, ci: User, path: str, answer: Any, why: str) -> None:
    """The answer says what is wrong, and whether the same token may be good later."""
    trust(issuer, ci)
    issuer.answers[path] = answer
    assert why in refused(issuer.token(), 401 if "key" in why else 503)
    asked = len(issuer.asked)
    refused(issuer.token(), 401 if "key" in why else 503)
    assert len(issuer.asked) == asked


def test_an_issuer_leads_nowhere_inside_unless_the_site_allows_it(issuer: Issuer, ci: User, settings: Any) -> None:
    """Neither does what it says of its keys."""
    trust(issuer, ci)
    issuer.answers[DISCOVERY] = {"issuer": issuer.address, "jwks_uri": "http://169.254.169.254/keys"}
    assert "private network" in refused(issuer.token(), 503)
    cache.clear()
    settings.ISSUER_NETWORKS = []
    asked = len(issuer.asked)
    assert "private network" in refused(issuer.token(), 503)
    assert len(issuer.asked) == asked


def test_the_identity_that_says_most_of_a_token_counts(issuer: Issuer, ci: User) -> None:
    """So every branch may plan, and the main branch publish."""
    other = service_account(name="planner", role=User.Role.ADMIN)
    trust(issuer, other, name="plans", claims={"sub": "repo:example/queues:*"}, scopes=["tree:plan"])
    trust(issuer, ci)
    branch = issuer.token(sub="repo:example/queues:pull_request")
    for token, status in ((issuer.token(), 201), (branch, 403)):
        sent = client(token).post(TREE, json.dumps(SMALL), content_type="application/json")
        assert sent.status_code == status, sent.json()


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"claims": {}}, "/claims"),
        ({"claims": {"sub": "*"}}, "/claims"),
        ({"claims": {"sub": "**r*"}}, "/claims"),
        ({"claims": {"sub": ""}}, "/claims/sub"),
        ({"claims": {"aud": "x"}}, "/claims"),
        ({"issuer": "https://127.0.0.1/"}, "/issuer"),
        ({"issuer": "ftp://example.com"}, "/issuer"),
        ({"issuer": "https://user:secret@example.com"}, "/issuer"),
        ({"issuer": "https://example.com/?tenant=1"}, "/issuer"),
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["everything"]}, "/scopes/0"),
        ({"service_account": "ada"}, "/service_account"),
        ({"service_account": "nobody"}, "/service_account"),
        ({"subtree": "root..a"}, "/subtree"),
        ({"audience": ""}, "/audience"),
        ({"name": ""}, "/name"),
    ],
)
def test_an_identity_that_lets_in_too_many_is_refused(ci: User, settings: Any, wrong: Any, pointer: str) -> None:
    """At its place, when it is made and when it is changed."""
    settings.ISSUER_NETWORKS = []
    root = create_user(username="ada", role=User.Role.ADMIN)
    admin = client_of(root, scopes=["site:administer"])
    body = {
        "name": "queues",
        "service_account": "ci",
        "issuer": "https://token.actions.githubusercontent.com",
        "audience": SITE,
        "claims": {"sub": MAIN},
        "scopes": ["tree:plan"],
    }
    answer = admin.post("/api/v1/workload-identities?reason=why", {**body, **wrong}, format="json")
    assert (answer.status_code, [each["pointer"] for each in answer.json()["errors"]]) == (422, [pointer])
    made = admin.post("/api/v1/workload-identities?reason=why", body, format="json")
    headers = {"If-Match": made["ETag"]}
    changed = admin.patch(f"{made['Location']}?reason=why", wrong, format="json", headers=headers)
    assert (changed.status_code, [each["pointer"] for each in changed.json()["errors"]]) == (422, [pointer])
