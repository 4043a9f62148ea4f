"""A token of a cluster's service account at the REST API: what its groups are here, and nothing of it is kept."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from rest_framework.test import APIClient

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.connections.token_reviews import REMEMBERED_S
from scheduler_admin.clusters.models import Cluster
from simulator.api.reviews import TOKEN
from tests.controlplane import anycluster
from tests.controlplane.anycluster import AnyCluster

pytestmark = pytest.mark.django_db
CLUSTERS = "/api/v1/clusters"


@pytest.fixture
def east(settings: Any, tmp_path: Path) -> Iterator[AnyCluster]:
    """A simulated cluster whose tokens are good here, with a service account."""
    settings.SECURE_SSL_REDIRECT, settings.TOKEN_REVIEW_CLUSTER = False, "east"
    cache.clear()
    with anycluster.simulated() as cluster:
        cluster.create("serviceaccounts", {"metadata": {"name": "ci"}})
        (tmp_path / "kubeconfig").write_text(cluster.entrance.kubeconfig(cluster.namespace))
        Cluster.objects.create(name="east", kubeconfig=str(tmp_path / "kubeconfig"))
        yield cluster


def token(cluster: AnyCluster, name: str = "ci") -> str:
    """Of a service account."""
    return TOKEN.format(namespace=cluster.namespace, name=name)


def ask(given: str, address: str = CLUSTERS) -> Any:
    """The API's answer to who sends this token."""
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {given}").get(address)


def asked(cluster: AnyCluster) -> int:
    """How often the cluster was asked."""
    return sum("tokenreviews" in record.resource for record in cluster.audit)


def known(cluster: AnyCluster, role: str = "auditor", *, by: str = "group") -> GroupMapping:
    """The service account is something here, by its namespace's group or by its own name."""
    name = {
        "group": f"kubernetes:group:system:serviceaccounts:{cluster.namespace}",
        "user": f"kubernetes:user:system:serviceaccount:{cluster.namespace}:ci",
    }[by]
    return add_mapping(group=name, role=role, tenant=None, actor=None, reason="a test")


@pytest.mark.parametrize("by", ["group", "user"])
def test_a_service_account_is_what_its_groups_are_here(east: AnyCluster, by: str) -> None:
    """Or its own name."""
    known(east, by=by)
    answer = ask(token(east))
    assert (answer.status_code, [one["name"] for one in answer.json()["results"]]) == (200, ["east"])
    person = User.objects.get()
    assert (person.role, person.has_usable_password()) == ("auditor", False)
    assert person.identity == f"kubernetes east system:serviceaccount:{east.namespace}:ci"


def test_it_may_be_an_editor(east: AnyCluster) -> None:
    """Of one tenant, like a person."""
    tenant = create_tenant(name="red", subtrees=["root.red"])
    group = f"kubernetes:group:system:serviceaccounts:{east.namespace}"
    add_mapping(group=group, role="editor", tenant=tenant, actor=None, reason="a test")
    assert ask(token(east)).status_code == 200
    assert [one.role for one in User.objects.get().memberships.all()] == ["editor"]


def test_a_group_of_the_same_name_elsewhere_is_another(east: AnyCluster) -> None:
    """A name without the mark of Kubernetes is an OpenID provider's."""
    group = f"system:serviceaccounts:{east.namespace}"
    add_mapping(group=group, role="admin", tenant=None, actor=None, reason="a test")
    assert ask(token(east)).status_code == 401


def test_who_is_nothing_here_is_told_no_more_than_who_sends_nonsense(east: AnyCluster) -> None:
    """401 for both, with the same words."""
    answers = [ask(given) for given in (token(east), "made.up.token", "nonsense", token(east, "nobody"))]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert not User.objects.exists()


def test_the_cluster_is_asked_once_a_minute(east: AnyCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A good token and a bad one; afterwards what was revoked there is refused here."""
    known(east)
    for _ in range(3):
        assert ask(token(east)).status_code == 200
        assert ask("simulated.x.y").status_code == 401
    assert asked(east) == 2
    east.delete("serviceaccounts", "ci")
    assert ask(token(east)).status_code == 200
    cache.clear()  # as a minute does
    assert ask(token(east)).status_code == 401
    assert REMEMBERED_S == 60


def test_the_cluster_is_asked_no_oftener_than_an_address_may_ask(east: AnyCluster, settings: Any) -> None:
    """Each of two hundred tokens is another one, and none is good: what is answered 429 was sent to no cluster.

    Who has shown a good one goes on; somebody at another address is looked at.
    """
    settings.API_RATE_ANONYMOUS, settings.API_RATE = 5, 300
    known(east)
    with time_machine.travel("2026-01-05T12:00:00Z", tick=False):
        assert ask(token(east)).status_code == 200
        codes = [ask(f"simulated.x.{number}").status_code for number in range(200)]
        assert (codes[:4], set(codes[4:])) == ([401] * 4, {429})
        assert asked(east) == 5
        assert ask(token(east)).status_code == 200
        elsewhere = APIClient(HTTP_AUTHORIZATION="Bearer simulated.y.1", REMOTE_ADDR="192.0.2.7")
        assert elsewhere.get(CLUSTERS).status_code == 401


def test_a_cluster_that_does_not_answer_is_asked_no_oftener_either(east: AnyCluster, settings: Any) -> None:
    """Each wait for it holds a thread."""
    settings.API_RATE_ANONYMOUS = 3
    Cluster.objects.all().delete()
    with time_machine.travel("2026-01-05T12:00:00Z", tick=False):
        assert [ask(f"simulated.x.{number}").status_code for number in range(5)] == [503] * 3 + [429] * 2


def test_what_is_no_token_of_a_cluster_is_not_sent_there(east: AnyCluster) -> None:
    """Neither a token of ours that is not known, nor anything long."""
    for given in ("sa_unknown", "sa_a.b.c", "x" * 9_000, "a." * 5_000 + "b"):
        assert ask(given).status_code == 401
    assert asked(east) == 0


def test_without_the_setting_the_door_is_shut(east: AnyCluster, settings: Any) -> None:
    """As it begins."""
    known(east)
    settings.TOKEN_REVIEW_CLUSTER = ""
    assert (ask(token(east)).status_code, asked(east)) == (401, 0)


def test_a_mapping_that_goes_ends_it_at_once(east: AnyCluster) -> None:
    """Though the review is still remembered: it has no rights left."""
    mapping = known(east)
    assert ask(token(east)).json()["results"] != []
    remove_mapping(mapping=mapping, actor=None, reason="a test")
    assert ask(token(east)).json()["results"] == []


def test_who_is_locked_out_stays_out(east: AnyCluster) -> None:
    """At once."""
    known(east)
    ask(token(east))
    User.objects.update(is_active=False)
    assert ask(token(east)).status_code == 401


def test_a_cluster_that_does_not_answer_is_no_refusal(east: AnyCluster, tmp_path: Path) -> None:
    """503 in problem details, so that a pipeline tries again; the same for a cluster that there is not."""
    known(east)
    text = (tmp_path / "kubeconfig").read_text().replace(east.address, "http://127.0.0.1:9")
    (tmp_path / "kubeconfig").write_text(text)
    answer = ask(token(east))
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    Cluster.objects.all().delete()
    assert ask(token(east)).status_code == 503


def test_the_token_is_nowhere(east: AnyCluster, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the log, nor in the database, nor in the cache's keys, nor in an answer."""
    known(east)
    given = token(east)
    with caplog.at_level(logging.DEBUG):
        answers = [ask(given), ask(given, "/api/v1/nothing"), ask(f"{given}x")]
    assert given not in caplog.text
    assert all(given.encode() not in answer.content for answer in answers)
    with connection.cursor() as cursor:
        for table in ("accounts_user", "accounts_auditevent", "accounts_apitoken"):
            cursor.execute(f"SELECT * FROM {table}")
            assert given not in str(cursor.fetchall())
    assert all(given not in key for key in cache._cache)  # type: ignore[attr-defined]
    assert AuditEvent.objects.filter(verb="user.groups").count() == 1
