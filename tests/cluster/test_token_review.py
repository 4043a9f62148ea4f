"""Whose a token is, by a cluster that is simulated and by a real API server."""

from collections.abc import Iterator

import pytest

from engine.cluster.connecting.token_review import review
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.rights import REVIEWING
from simulator.api.reviews import TOKEN
from tests.controlplane import anycluster
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.plane import ControlPlane

OURS = ("scheduler-admin",)


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    """The simulator's tokens are for everybody, and it lets everybody do everything."""
    with anycluster.real(plane) as cluster:
        yield cluster


def token_of(cluster: AnyCluster, name: str, *audiences: str) -> str:
    """A token of a service account, made if it is not there; the simulator's are good for every audience."""
    if not cluster.find("serviceaccounts", name):
        cluster.create("serviceaccounts", {"metadata": {"name": name}})
    if not cluster.real:
        return TOKEN.format(namespace=cluster.namespace, name=name)
    asked = {"spec": {"audiences": list(audiences), "expirationSeconds": 600}}
    answer = cluster.send("POST", path_of("serviceaccounts", cluster.namespace, name, "token"), asked)
    return str(answer["status"]["token"])


def test_a_service_account_is_who_it_is(cluster: AnyCluster) -> None:
    """With its name and the groups that Kubernetes gives it."""
    found = review(cluster.entrance.settings(), token_of(cluster, "ci", *OURS), OURS)
    assert found is not None
    assert found.username == f"system:serviceaccount:{cluster.namespace}:ci"
    assert f"system:serviceaccounts:{cluster.namespace}" in found.groups


def test_what_is_no_token_is_nobodys(cluster: AnyCluster) -> None:
    """Neither made up, nor of an account that is not there."""
    for token in ("a.b.c", "simulated.nowhere.nobody"):
        assert review(cluster.entrance.settings(), token, OURS) is None


@pytest.mark.controlplane
def test_a_token_for_somebody_else_is_not_for_us(real: AnyCluster) -> None:
    """Not even the one for the API server itself, which every pod has."""
    settings = real.entrance.settings()
    assert review(settings, token_of(real, "ci", "another-service"), OURS) is None
    assert review(settings, token_of(real, "ci"), OURS) is None


@pytest.mark.controlplane
def test_who_may_not_review_is_told_what_is_missing(real: AnyCluster) -> None:
    """And the error does not hold the token."""
    limited = real.account({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]})
    token = token_of(real, "ci", *OURS)
    with pytest.raises(ClusterError) as caught:
        review(limited, token, OURS)
    assert str(REVIEWING[0]) in str(caught.value)
    assert token not in repr(caught.value)


def test_a_cluster_that_is_not_there_is_an_error(cluster: AnyCluster) -> None:
    """Not a refusal: nobody knows whose the token is."""
    away = cluster.entrance.settings(address="http://127.0.0.1:9", ca="", timeout_s=1)
    with pytest.raises(ClusterError) as caught:
        review(away, "a.b.secret-canary", OURS)
    assert "canary" not in repr(caught.value)
