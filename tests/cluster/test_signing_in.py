"""Every way to sign in, tried on a real control plane."""

import json
import os
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.connecting import credentials
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.errors import ApiFailure
from tests.cluster.certificates import issued
from tests.cluster.doubles import ManualClock
from tests.cluster.test_credentials import grants, program
from tests.controlplane.plane import ControlPlane

pytestmark = pytest.mark.controlplane
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def who(connection: Connection) -> str:
    """Whom the API server takes us for."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    told = json.loads(connection.request("POST", WHO, body=body).body)
    name: str = told["status"]["userInfo"]["username"]
    return name


@pytest.fixture
def account(plane: ControlPlane) -> Callable[[str], str]:
    """Make a service account anew; its token, good for ten minutes."""

    def make(name: str) -> str:
        plane.request("DELETE", f"{ACCOUNTS}/{name}")
        assert plane.request("POST", ACCOUNTS, {"metadata": {"name": name}})
        spec = {"spec": {"expirationSeconds": 600}}
        token: str = plane.request("POST", f"{ACCOUNTS}/{name}/token", spec)["status"]["token"]
        return token

    return make


def kubeconfig(plane: ControlPlane, folder: Path, **user: Any) -> ConnectionSettings:
    """Of two files: the clusters of the one, the users of the other."""
    ca = {"server": plane.address, "certificate-authority": str(plane.folder / "ca.crt")}
    contexts = [{"name": name, "context": {"cluster": "real", "user": name}} for name in ("nobody", "ada")]
    one = {"clusters": [{"name": "real", "cluster": ca}], "contexts": contexts, "current-context": "nobody"}
    two = {"users": [{"name": "nobody", "user": {}}, {"name": "ada", "user": user}], "current-context": "other"}
    for name, document in (("one", one), ("two", two)):
        (folder / name).write_text(json.dumps(document))
    return ConnectionSettings(kubeconfig_path=f"{folder / 'one'}{os.pathsep}{folder / 'two'}", context="ada")


def certificate(plane: ControlPlane, ends: datetime | None = None) -> dict[str, str]:
    """The user section of somebody whom the cluster's own authority knows."""
    by = ((plane.folder / "ca.crt").read_text(), (plane.folder / "ca.key").read_text())
    names = ("client-certificate-data", "client-key-data")
    return dict(zip(names, (b64encode(pem.encode()).decode() for pem in issued(by, "ada", ends=ends)), strict=True))


def test_by_a_static_token(plane: ControlPlane):
    assert who(Connection(ConnectionSettings(kubeconfig_path=str(plane.kubeconfig())))) == "admin"


def test_by_a_client_certificate(plane: ControlPlane, tmp_path: Path):
    assert who(Connection(kubeconfig(plane, tmp_path, **certificate(plane)))) == "ada"


def test_a_client_certificate_that_has_expired_is_told_with_the_date(plane: ControlPlane, tmp_path: Path):
    """The API server itself only says Unauthorized."""
    user = certificate(plane, ends=datetime(2026, 1, 2, 8, 30, tzinfo=UTC))
    with pytest.raises(ApiFailure, match="the client-certificate ended on 2026-01-02 08:30 UTC"):
        who(Connection(kubeconfig(plane, tmp_path, **user)))


def test_by_a_program_that_gives_a_token(plane: ControlPlane, tmp_path: Path, account: Callable[[str], str]):
    user = program(tmp_path, grants(token=account("robot")))
    assert who(Connection(kubeconfig(plane, tmp_path, **user))) == "system:serviceaccount:default:robot"


def test_by_a_program_that_gives_a_certificate(plane: ControlPlane, tmp_path: Path):
    by = ((plane.folder / "ca.crt").read_text(), (plane.folder / "ca.key").read_text())
    signed, key = issued(by, "ada")
    user = program(tmp_path, grants(clientCertificateData=signed, clientKeyData=key))
    assert who(Connection(kubeconfig(plane, tmp_path, **user))) == "ada"


def test_in_a_pod_whose_token_is_rotated(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: Callable[[str], str]
):
    """By the variables and files that a pod has. One that holds no longer is replaced when it is refused, one that
    still does as soon as a minute has passed.
    """  # noqa: D205
    monkeypatch.setattr(credentials, "POD_FOLDER", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(plane.port))
    (tmp_path / "ca.crt").write_text((plane.folder / "ca.crt").read_text())
    (tmp_path / "token").write_text(account("one"))
    plane.request("DELETE", f"{ACCOUNTS}/one")
    clock = ManualClock()
    connection = Connection(ConnectionSettings(in_cluster=True), clock=clock)
    (tmp_path / "token").write_text(account("two"))
    assert who(connection) == "system:serviceaccount:default:two"
    assert connection.credentials.ends_at is not None
    (tmp_path / "token").write_text(account("three"))
    assert who(connection) == "system:serviceaccount:default:two"
    clock.now_s += 61
    assert who(connection) == "system:serviceaccount:default:three"
