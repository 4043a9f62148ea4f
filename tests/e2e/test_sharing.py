"""Two of the engine's workers: each has its clusters, and what one had goes on without it."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from scheduler_admin.demo import processes
from tests.e2e.manifests import manifests, queues
from tests.e2e.product import Product
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.suite("preemptions")]

NAMES = ("first", "second")
_OWNERS = f"SELECT owner FROM clusters_cluster WHERE name IN {NAMES}"


@pytest.fixture(scope="module")
def shared(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Two small clusters that the product observes."""
    with ExitStack() as stack:
        for name in NAMES:
            folder = tmp_path_factory.mktemp(name)
            small = manifests(folder, nodes=[2], prod=0, test=1)
            cluster = stack.enter_context(product.cluster(name, manifests=small, tree=queues(folder, prod=1, test=1)))
            kubeconfig = str(cluster.kubeconfig)
            product.manage("add_cluster", name, "--hierarchy", name, "--kubeconfig", kubeconfig)
        wait_for(lambda: all(passed(product)), "The first passes")
        yield product


def passed(product: Product) -> list[str]:
    """When each cluster had its last pass; empty: it had none yet."""
    found = [product.api(f"/clusters/{name}") or {} for name in NAMES]
    return [str((one.get("last_pass") or {}).get("started_at", "")) for one in found]


def owners(product: Product) -> list[str]:
    """The worker of each cluster."""
    return [str(row["owner"]) for row in product.store.rows(_OWNERS)]


def test_a_second_worker_takes_its_part_and_leaves_it_when_it_dies(shared: Product) -> None:
    """Both clusters have passes all the while, by a worker each; then by the one that is left."""
    assert len(set(owners(shared))) == 1
    command = processes.engine_worker()
    command[command.index("engine@demo")] = "second@demo"
    shared.children.start("engine-2", command)
    wait_for(lambda: len(set(owners(shared))) == len(NAMES), "A cluster each")
    before = passed(shared)
    wait_for(lambda: all(map(str.__gt__, passed(shared), before)), "Passes by both")
    shared.end("engine-2")
    wait_for(lambda: len(set(owners(shared))) == 1, "One worker for both")
    before = passed(shared)
    wait_for(lambda: all(map(str.__gt__, passed(shared), before)), "Passes by the one that is left")
