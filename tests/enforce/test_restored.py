"""A backup that is restored knows less than has happened since: nobody is evicted a second time for that."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import postgres
from tests.controlplane.anycluster import AnyCluster, simulated
from tests.e2e.manifests import batch, lease, queues, replicas
from tests.enforce.test_crashes import accepted, ask_for_two_pods, kept, running, settled
from tests.enforce.worker import Worker
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e
AT_ONCE, SLOWLY = "1s", "12s"
"""How long victims take to exit: they are gone when the backup is restored, or still on their way."""
ON_POSTGRES = pytest.mark.suite("postgres")


@dataclass
class Installation:
    """Enforces in the cluster until it is lost; ``server``: of PostgreSQL, or none."""

    folder: Path
    cluster: AnyCluster
    server: str = ""

    def __post_init__(self) -> None:
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(self.cluster.entrance.kubeconfig(self.cluster.namespace))
        self.first = Worker(self.folder / "first", self.server)
        tree = queues(self.folder, prod=4, test=2)
        self.first.set_up(kubeconfig=self.kubeconfig, tree=tree, min_run_s=0)
        self.second: Worker | None = None

    def back_up(self) -> None:
        self.first.store.back_up(self.folder / "backup")

    def restore(self) -> Worker:
        """Lose the first as with its machine, and go on with what was backed up of it."""
        self.first.stop()
        self.second = Worker(self.folder / "second", self.server)
        self.second.restore(self.folder / "backup", kubeconfig=self.kubeconfig)
        return self.second

    def stop(self) -> None:
        for worker in filter(None, (self.first, self.second)):
            worker.stop()


@pytest.fixture
def cluster(exits_after: str) -> Iterator[AnyCluster]:
    """A full node of six cores: Test holds all over a guarantee of two."""
    with simulated() as found:
        found.create("priorityclasses.scheduling.k8s.io", batch())
        found.create("leases.coordination.k8s.io", lease())
        found.add_node(cpu="6")
        found.create("replicasets.apps", replicas("test", 3, exits_after=exits_after, namespace=found.namespace))
        wait_for(lambda: running(found, "test") == 3, "A full cluster")
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL, on which the tables are made once."""
    if postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as address:
        yield address


@pytest.fixture
def installed(
    request: pytest.FixtureRequest, database: str, cluster: AnyCluster, tmp_path: Path
) -> Iterator[Installation]:
    """With its database in a file, or on a server."""
    made = Installation(tmp_path, cluster, request.getfixturevalue("server") if database == "postgres" else "")
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("database", "point", "exits_after"),
    [
        ("sqlite", "", SLOWLY),
        ("sqlite", "intended", SLOWLY),
        pytest.param("postgres", "", SLOWLY, marks=ON_POSTGRES),
        pytest.param("postgres", "begun", AT_ONCE, marks=ON_POSTGRES),
        pytest.param("postgres", "noted 0", AT_ONCE, marks=ON_POSTGRES),
    ],
)
def test_what_was_evicted_since_is_not_evicted_again(installed: Installation, cluster: AnyCluster, point: str) -> None:
    """Backed up before anything was decided, or amid it; lost when both victims have been told to go.

    Where they are still on their way, and nothing is known of them, their room stays kept for the ask.
    """
    first = installed.first
    if point:
        first.start(fault=f"kill:{point}")
        ask_for_two_pods(cluster)
        first.wait_killed()
        installed.back_up()
    else:
        installed.back_up()
        ask_for_two_pods(cluster)
    first.start()
    wait_for(lambda: len(accepted(cluster)) == 2, f"Both evictions, {first.log()}")
    second = installed.restore()
    second.start()
    open_to_all: list[float] = []

    def bound() -> bool:
        free = not kept(cluster)
        here = bool(cluster.get("pods", "ask")["spec"].get("nodeName"))
        if free and not here:
            open_to_all.append(time.monotonic())
        return here

    wait_for(bound, f"The ask's room, {second.log()}")
    assert not open_to_all
    wait_for(lambda: not kept(cluster), f"A node that is kept no longer, {second.log()}")
    assert sorted(accepted(cluster).values()) == [1, 1]
    if point:
        wait_for(lambda: settled(second), f"The decision's end, {second.log()}")
