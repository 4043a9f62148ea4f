"""What is lost of Redis, the database, the API server or the worker: nothing is done wrongly, all goes on by itself."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError

import pytest

from scheduler_admin.demo import processes
from tests.e2e.manifests import manifests, queues, run_together
from tests.e2e.product import Product, SimulatedCluster
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e

CORES = [4] * 6


@pytest.fixture(scope="module")
def cluster(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedCluster]:
    """Twelve pods of Test fill the cluster; Prod, guaranteed all of it, has none yet."""
    folder = tmp_path_factory.mktemp("losses")
    full = manifests(folder, nodes=CORES, prod=0, test=12)
    with product.cluster("losses", manifests=full, tree=queues(folder, prod=24, test=0)) as cluster:
        wait_for(lambda: run_together(cluster, prod=0, test=12), "A full cluster")
        product.act_on(cluster)
        yield cluster


def one_more(cluster: SimulatedCluster, product: Product) -> None:
    """A further pod of Prod asks, one of Test goes, and every decision comes to its end."""
    runs = len(cluster.running("prod"))
    cluster.scale("prod", "prod", runs + 1)
    wait_for(lambda: run_together(cluster, prod=runs + 1, test=12 - runs - 1), "Room for one more")
    wait_for(lambda: all(one["state"] in ("closed", "on-hold") for one in product.preemptions("losses")), "Its end")


def last_pass(product: Product) -> str:
    """When the last pass was."""
    return str(product.api("/clusters/losses")["last_pass"]["started_at"])


def goes_on(product: Product) -> bool:
    """Whether passes follow each other."""
    former = last_pass(product)
    return bool(wait_for(lambda: last_pass(product) > former, "A further pass"))


def evicted(cluster: SimulatedCluster) -> int:
    """How many evictions its API server has accepted."""
    done = [one for one in cluster.audit() if one["subresource"] == "eviction" and not one["dry_run"]]
    return sum(one["code"] == 201 for one in done)


@contextmanager
def stopped(product: Product, name: str) -> Iterator[None]:
    """A process of the product does nothing until the block ends."""
    child = product.children._children[name]
    child.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        child.send_signal(signal.SIGCONT)


def test_nothing_that_redis_keeps_is_needed(product: Product, cluster: SimulatedCluster) -> None:
    """All of it thrown away, and nobody notices."""
    for _ in range(3):
        subprocess.run(["redis-cli", "-s", str(product.place.socket), "FLUSHALL"], check=True, capture_output=True)
    assert goes_on(product)
    one_more(cluster, product)


def test_without_redis_pages_are_read_and_passes_go_on_once_it_is_back(
    product: Product, cluster: SimulatedCluster
) -> None:
    """Killed and started again: worker and beat find it by themselves."""
    redis = product.children._children["redis"]
    redis.kill()
    redis.wait()
    assert product.api("/clusters/losses") is not None
    product.children.start("redis", processes.redis(product.place))
    assert goes_on(product)
    one_more(cluster, product)


def test_nobody_is_evicted_while_the_database_takes_no_intent(product: Product, cluster: SimulatedCluster) -> None:
    """Locked by somebody else: an ask waits, pages are read, and it goes on as soon as the lock is off."""
    before, runs = evicted(cluster), len(cluster.running("prod"))
    product.store.execute("UPDATE accounts_apitoken SET last_used_at = NULL", ())
    with product.store.locked():
        cluster.scale("prod", "prod", runs + 1)
        wait_for(lambda: len(cluster.pods("prod")) == runs + 1, "An ask")
        known = last_pass(product)
        read = lambda: product.api("/clusters/losses")  # noqa: E731 - None where it took too long to answer
        wait_for(lambda: (found := read()) and found["age_seconds"] > 5, "A page that tells how old it is")
        assert (evicted(cluster), last_pass(product)) == (before, known)
    wait_for(lambda: len(cluster.running("prod")) == runs + 1, "Room for the ask")
    assert evicted(cluster) == before + 1


def test_who_signs_in_while_the_database_is_locked_is_told_to_come_back(
    product: Product, cluster: SimulatedCluster
) -> None:
    """And when: a password that is wrong would be noted."""
    with product.store.locked(), pytest.raises(HTTPError) as answered:
        product.sign_in("ci", "wrong")
    assert (answered.value.code, answered.value.headers["Retry-After"]) == (503, "10")
    assert "try again in a moment" in answered.value.read().decode()


def test_a_worker_that_is_killed_is_replaced_and_goes_on(product: Product, cluster: SimulatedCluster) -> None:
    """In the middle of what it does, as a crash would: nobody goes twice."""
    before, runs = evicted(cluster), len(cluster.running("prod"))
    cluster.scale("prod", "prod", runs + 2)
    wait_for(lambda: evicted(cluster) > before, "The first eviction")
    product.kill_engine()
    wait_for(lambda: run_together(cluster, prod=runs + 2, test=12 - runs - 2), "Room for two more")
    wait_for(lambda: all(one["state"] in ("closed", "on-hold") for one in product.preemptions("losses")), "Their end")
    assert evicted(cluster) == before + 2


def test_a_silent_api_server_is_told_and_nothing_is_decided_until_it_answers(
    product: Product, cluster: SimulatedCluster
) -> None:
    """Why, and since when; it recovers by itself, with one pass where many were missed."""
    with stopped(product, "simulator-losses"):
        told = wait_for(lambda: product.api("/clusters/losses")["error"], "The trouble")
        known = last_pass(product)
    assert told["since"]
    wait_for(lambda: not product.api("/clusters/losses")["error"], "Its end")
    assert last_pass(product) > known
    one_more(cluster, product)
