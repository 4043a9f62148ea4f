"""YuniKorn behind a real API server: what deploy/yunikorn.yaml grants is enough to ask it, and nothing more."""

import socket
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.cluster.connecting.connection import JSON, MERGE_PATCH, Connection
from engine.cluster.errors import ApiFailure
from engine.cluster.watching.yunikorn import YunikornReader
from tests.cluster.doubles import Scripted, scripted
from tests.cluster.test_rights import OBSERVE, Account
from tests.cluster.yunikorn import SERVICE, StandIn, preempted
from tests.controlplane.plane import ControlPlane
from tests.waiting import wait_for

if TYPE_CHECKING:
    from engine.formats.yunikorn.rest import Record

pytestmark = pytest.mark.controlplane
MANIFEST = "deploy/yunikorn.yaml"
SPACE = "/api/v1/namespaces/yunikorn"


def own_address() -> str:
    """Of this machine, as others see it: an API server proxies to no loopback address. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


@pytest.fixture
def served(plane: ControlPlane) -> Iterator[Scripted]:
    """YuniKorn as its Helm chart puts it into a cluster: a service and what is behind it."""
    stand_in = StandIn([preempted("v1", "Preempted by uid-web from application app-1 in root.prod")])
    with scripted(stand_in.served_plain, host=own_address()) as server:
        port = int(server.address.rpartition(":")[2])
        meta, spec = {"name": "yunikorn-service"}, {"ports": [{"name": "rest", "port": 9080}]}
        container = {"name": "yunikorn", "image": "i"}
        behind = {"ip": own_address(), "targetRef": {"kind": "Pod", "namespace": "yunikorn", "name": "yunikorn-0"}}
        subsets = [{"addresses": [behind], "ports": [{"port": port, "name": "rest"}]}]
        made: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "/api/v1/namespaces", {"metadata": {"name": "yunikorn"}}),
            ("POST", f"{SPACE}/pods", {"metadata": {"name": "yunikorn-0"}, "spec": {"containers": [container]}}),
            ("PATCH", f"{SPACE}/pods/yunikorn-0/status", {"status": {"podIPs": [{"ip": own_address()}]}}),
            ("POST", f"{SPACE}/services", {"metadata": meta, "spec": spec}),
            ("POST", f"{SPACE}/endpoints", {"metadata": meta, "subsets": subsets}),
        ]
        for method, path, document in made:
            wait_for(partial(_made, plane, method, path, document), f"{path} is made")
        yield server
        plane.request("DELETE", SPACE)


@pytest.fixture
def account(plane: ControlPlane, served: Scripted) -> Iterator[Account]:
    """Goes before the namespace that it has rights in."""
    found = Account(plane)
    yield found
    found.take_all()


def test_what_the_manifest_grants_is_enough_to_ask_it(account: Account, served: Scripted) -> None:
    """Through the proxy of its service, and of no other service."""
    account.give(OBSERVE)
    connection = Connection(account.give(MANIFEST))
    heard: list[Record] = []
    reader = YunikornReader(connection, SERVICE, heard.extend)
    wait_for(lambda: _asked(reader), "it may be asked, and answers")
    assert [one.uid for one in heard] == ["v1"]
    with pytest.raises(ApiFailure, match="is forbidden"):
        connection.request("GET", f"{SPACE}/services/another:9080/proxy/")


def test_without_it_the_missing_right_is_named(account: Account, served: Scripted) -> None:
    """What observing needs is not enough."""
    reader = YunikornReader(Connection(account.give(OBSERVE)), SERVICE, list)
    reader.start()
    wait_for(lambda: "apply deploy/yunikorn.yaml" in reader.trouble, "it is told what is missing")
    assert reader.stop()
    assert not served.asked


def _made(plane: ControlPlane, method: str, path: str, document: dict[str, Any]) -> bool:
    """Also where an answer came too late and the server has it all the same."""
    if plane.request(method, path, document, MERGE_PATCH if method == "PATCH" else JSON):
        return True
    there = plane.request("GET", f"{path}/{document['metadata']['name']}") if method == "POST" else None
    return bool(there) and "deletionTimestamp" not in there["metadata"]


def _asked(reader: YunikornReader) -> bool:
    try:
        reader.query()
    except ApiFailure:
        return False
    return True
