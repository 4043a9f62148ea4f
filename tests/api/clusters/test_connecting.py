"""A cluster is connected by REST: looked at first, then added in observe; its credentials are never read back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, KeptAnswer
from scheduler_admin.clusters.models import Cluster, Credentials
from scheduler_admin.queues.models import Hierarchy, Revision
from simulator.kubeconfig import kubeconfig
from tests.api.builders import user
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import errors, own_form
from tests.cluster.doubles import Simulated, simulate
from tests.cluster.offering import offer, running

pytestmark = pytest.mark.django_db
CLUSTERS = "/api/v1/clusters"
SECRET = "hunter2-token"


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    """A cluster with a node and a pod."""
    with simulate() as simulated:
        simulated.add_node()
        simulated.add_pod("web", node="n1")
        yield simulated


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """Where the installation offers kubeconfigs."""
    offer(tmp_path, monkeypatch, settings)
    return tmp_path


@pytest.fixture
def connector(db: None) -> APIClient:
    """An admin's token that may connect clusters."""
    return client_of(user("ada", role="admin"), scopes=["cluster:connect"])


def send(client: APIClient, body: Any, *, status: int, **query: str) -> Any:
    """Connect it; nothing that is answered, written down or kept tells the secret."""
    response = client.post(f"{CLUSTERS}?dry_run=true" if query else CLUSTERS, body, format="json")
    assert response.status_code == status, response.content
    written = [str(row) for model in (AuditEvent, KeptAnswer, Cluster) for row in model.objects.values()]
    assert not any(SECRET in text for text in (response.content.decode(), str(response.headers), *written))
    return response


def test_a_dry_run_says_what_is_there_and_adds_nothing(connector: APIClient, theirs: Simulated) -> None:
    """As the page shows it: what runs there, and the tree that would be published."""
    response = send(connector, {"kubeconfig": kubeconfig(theirs.address, SECRET)}, status=200, dry_run="true")
    told = response.json()
    check(response, "/api/v1/clusters", "post")
    assert (told["name"], told["already_connected"], told["revision"]) == ("simulator", False, None)
    assert (told["survey"]["nodes"], told["survey"]["running_pods"], told["survey"]["capacity"]["cpu"]) == (1, 1, "4")
    assert {"path": "root.default", "pods": 1, "namespaces": ["default"]} in told["survey"]["leaf_queues"]
    assert told["proposal"]["origin"] == "namespaces"
    assert "root.default" in {queue["path"] for queue in told["proposal"]["tree"]["queues"]}
    assert not any(model.objects.exists() for model in (Cluster, Hierarchy, Credentials))
    assert {record.verb for record in theirs.audit} <= {"get", "list", "watch"}


def test_connecting_adds_it_in_observe_with_its_tree(connector: APIClient, theirs: Simulated) -> None:
    """What was proposed is in force; what was sent is kept, sealed; who did it is written down."""
    sent = {"kubeconfig": kubeconfig(theirs.address, SECRET), "name": "east"}
    proposed = send(connector, sent, status=200, dry_run="true").json()["proposal"]["tree"]
    response = send(connector, sent, status=201)
    check(response, "/api/v1/clusters", "post")
    made = Cluster.objects.get()
    assert (made.name, made.mode, made.kubeconfig) == ("east", "observe", "")
    assert own_form(connector, "/api/v1/hierarchies/east/tree")["queues"] == proposed["queues"]
    assert connector.get(f"{CLUSTERS}/east/credentials").json()["kind"] == "token"
    assert SECRET not in Credentials.objects.get().sealed
    assert AuditEvent.objects.get(verb="cluster.add").actor_name == "ada"
    assert {record.verb for record in theirs.audit} <= {"get", "list", "watch"}


def test_an_address_with_a_token_and_a_file_are_ways_too(
    connector: APIClient, theirs: Simulated, offered: Path
) -> None:
    """The file is read whenever it is needed: nothing of it is kept."""
    send(connector, {"address": theirs.address, "token": SECRET, "name": "by-token"}, status=201)
    path = offered / "config"
    path.write_text(kubeconfig(theirs.address, SECRET))
    Cluster.objects.all().delete()
    send(connector, {"kubeconfig_file": str(path), "context": "simulator", "name": "by-file"}, status=201)
    made = Cluster.objects.get()
    assert (made.kubeconfig, made.context, Credentials.objects.exists()) == (str(path), "simulator", False)


def test_a_known_cluster_stays_as_it_is(connector: APIClient, theirs: Simulated, offered: Path) -> None:
    """Connecting it again, as a pipeline does, changes nothing."""
    path = offered / "config"
    path.write_text(kubeconfig(theirs.address, SECRET))
    send(connector, {"kubeconfig_file": str(path)}, status=201)
    Cluster.objects.update(mode="advise")
    told = send(connector, {"kubeconfig_file": str(path)}, status=200).json()
    assert (told["name"], told["already_connected"], told["revision"], told["proposal"]) == ("simulator", True, 1, None)
    assert (Cluster.objects.get().mode, Revision.objects.count()) == ("advise", 1)


@pytest.mark.parametrize(
    ("body", "want", "place"),
    [
        ({}, "Provide either a kubeconfig", ""),
        ({"kubeconfig_file": "/etc/a", "token": SECRET}, "Provide exactly one of these", ""),
        ({"kubeconfig": f"[{SECRET}"}, "not valid YAML", "/kubeconfig"),
        ({"kubeconfig_file": "/nowhere"}, "/nowhere", "/kubeconfig_file"),
        ({"address": "c", "token": SECRET}, "must start with https://", "/address"),
        ({"address": "http://127.0.0.1:9", "token": SECRET}, "cannot be reached", None),
        ({"address": "http://127.0.0.1:9", "token": SECRET, "name": "No Name"}, "", "/name"),
        ({"kubeconfig_file": "/etc/a", "secret": SECRET}, "Unknown field", "/secret"),
    ],
)
def test_what_can_not_be_used_is_told_at_its_place_and_adds_nothing(
    connector: APIClient, body: dict[str, str], want: str, place: str | None
) -> None:
    """No secret in it."""
    response = send(connector, body, status=422)
    assert want in json.dumps(response.json())
    assert [error.get("pointer") for error in errors(response)] == [place]
    assert not Cluster.objects.exists()


def test_a_name_that_is_taken_is_told_at_it(connector: APIClient, theirs: Simulated) -> None:
    """By a cluster that is reached in another way."""
    Cluster.objects.create(name="east", kubeconfig="/etc/east")
    response = send(connector, {"kubeconfig": kubeconfig(theirs.address, SECRET), "name": "east"}, status=422)
    assert errors(response) == [{"pointer": "/name"}]


@pytest.mark.parametrize("where", ["/proc/self/fd", "/dev/fd", "/tmp"])
def test_no_file_is_read_but_those_that_are_offered(connector: APIClient, tmp_path: Path, where: str) -> None:
    """An upload that somebody leaves hanging has an open file in our process: its program would run as we do."""
    marker, upload = tmp_path / "it ran", tmp_path / "upload"
    upload.write_text(running("/usr/bin/touch", str(marker)))
    with upload.open() as file:
        path = str(upload) if where == "/tmp" else f"{where}/{file.fileno()}"
        response = send(connector, {"kubeconfig_file": path}, status=422, dry_run="true")
    assert errors(response) == [{"pointer": "/kubeconfig_file"}]
    assert "not one of the kubeconfigs" in response.json()["errors"][0]["detail"]
    assert not marker.exists()
    assert not AuditEvent.objects.filter(verb="program.run").exists()


def test_whoever_has_a_program_run_stands_in_the_audit_log(connector: APIClient, offered: Path) -> None:
    """Also who only tries."""
    marker = offered / "it ran"
    (offered / "config").write_text(running("/usr/bin/touch", str(marker)))
    send(connector, {"kubeconfig_file": str(offered / "config")}, status=422, dry_run="true")
    assert marker.exists()
    noted = AuditEvent.objects.get(verb="program.run")
    assert (noted.actor_name, noted.target, noted.details["program"]) == ("ada", "c", "/usr/bin/touch")


def test_only_an_admins_token_for_it_connects(ada: APIClient, olga: APIClient, alice: APIClient, cluster: Any) -> None:
    """One that writes trees does not; who is no admin is told so; the list stays everybody's."""
    for client in (ada, olga, alice):
        assert client.post(CLUSTERS, {"kubeconfig_file": "/etc/a"}, format="json").status_code == 403
        assert client.get(CLUSTERS).status_code == 200
    operator = client_of(user("otto", role="operator"), scopes=["cluster:connect"])
    assert operator.post(CLUSTERS, {"kubeconfig_file": "/etc/a"}, format="json").status_code == 403
    assert Client().post(CLUSTERS).status_code == 401


def test_sent_again_with_its_key_it_is_answered_again(connector: APIClient, theirs: Simulated) -> None:
    """And of the request only a digest is kept."""
    body = json.dumps({"kubeconfig": kubeconfig(theirs.address, SECRET)})
    answers = [
        connector.post(CLUSTERS, body, content_type="application/json", headers={"Idempotency-Key": "once"})
        for _time in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert Cluster.objects.count() == 1
    assert not any(SECRET in str(row) for row in KeptAnswer.objects.values())
