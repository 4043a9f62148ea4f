"""The product's own processes, the simulated cluster that they enforce in, and the line between the two."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from engine.cluster.acting.lease import LEASE_NAME, LEASE_NAMESPACE
from tests import postgres
from tests.e2e.manifests import batch, document, lease, namespace, node, replicas
from tests.e2e.product import Product, SimulatedCluster
from tests.faults.proxy import relayed
from tests.soak.line import Line
from tests.stores import Postgres, Sqlite, Store, changed
from tests.waiting import wait_for

NAME = "soak"
NODES = [4] * 4
GUARANTEED = {"prod": 8, "dev": 4, "test": 0}
"""Cores: of prod and dev as much as they ever want, so that no pod of theirs may ever be a victim."""
CALM = {"prod": 2, "dev": 1, "test": 3}
"""Pods of two cores with which everybody has room."""


@dataclass
class Ground:
    """All that a soak runs on."""

    product: Product
    cluster: SimulatedCluster
    line: Line
    store: Store
    key: str
    """A session of somebody who may read every page."""
    server: Path | None
    """The folder of the PostgreSQL server, where there is one."""

    def pid(self, name: str) -> int:
        """The process that a part of the product is now; it leads a group of its own."""
        return self.product.children.pids[name]

    def status(self, path: str) -> int:
        """What a page is answered with; 0 where nobody answers in ten seconds."""
        try:
            self.product.page(path, self.key)
        except OSError as error:
            return int(getattr(error, "code", 0))
        return 200

    def api(self) -> dict[str, Any]:
        """What REST says of the cluster; empty where it says nothing."""
        try:
            return self.product.api(f"/clusters/{NAME}") or {}
        except OSError:
            return {}

    def renewed(self) -> str:
        """When whoever leads last said so, as the cluster's lease has it."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/{LEASE_NAME}"
        spec = self.cluster.request("GET", path)["spec"]
        return str(spec.get("renewTime") or "") if spec.get("holderIdentity") else ""


@contextmanager
def ground(folder: Path, database: str) -> Iterator[Ground]:
    """It runs, full, and in enforce; ``database`` is sqlite or postgres."""
    with ExitStack() as stack:
        server, store = _database(stack, folder, database)
        product = Product(folder, store)
        stack.callback(product.stop)
        product.start()
        product.children.start("housekeeping", product.command("housekeeping"))
        cluster = SimulatedCluster(NAME, folder / NAME)
        cluster.folder.mkdir()
        product.children.start("simulator", cluster.command(_manifests(folder)))
        wait_for(cluster.kubeconfig.exists, "The simulated cluster")
        line = Line(YAML(typ="safe").load(cluster.kubeconfig)["clusters"][0]["cluster"]["server"])
        stack.enter_context(relayed(line))
        product.manage("import_queues", NAME, str(_tree(folder)), "--reason", "test")
        way = _kubeconfig(folder, line.server.address)
        product.manage("add_cluster", NAME, "--hierarchy", NAME, "--kubeconfig", str(way))
        store.execute(*changed("clusters_cluster", {"min_run_s": 2, "evictions_per_minute": 60}))
        found = Ground(product, cluster, line, store, product.session, server)
        wait_for(lambda: found.api().get("last_pass"), "The first pass")
        product.manage("set_mode", NAME, "enforce", "--reason", "test")
        yield found


def _database(stack: ExitStack, folder: Path, database: str) -> tuple[Path | None, Store]:
    if database == "sqlite":
        return None, Sqlite(folder / "db.sqlite3")
    # Its own user has to come there, which the folders of others don't let it.
    where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-pg-")))
    return where, Postgres(stack.enter_context(postgres.server(where)), f"soak{os.getpid()}")


def _manifests(folder: Path) -> Path:
    found = folder / "manifests"
    found.mkdir()
    many = [
        *(namespace(name) for name in GUARANTEED),
        *(batch(), lease()),
        *(node(number, cores) for number, cores in enumerate(NODES)),
        *(replicas(name, 8 if name == "test" else 0, exits_after="1s") for name in GUARANTEED),
    ]
    for number, one in enumerate(many):
        document(found / f"{number:02}.yaml", one)
    return found


def _tree(folder: Path) -> Path:
    leaves = [
        {"name": name, "properties": {"preemption.delay": "1s"}, "resources": {"guaranteed": {"vcore": cores}}}
        for name, cores in GUARANTEED.items()
    ]
    tree = {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": leaves}]}]}
    return document(folder / "queues.yaml", tree)


def _kubeconfig(folder: Path, address: str) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path
