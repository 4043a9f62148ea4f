"""An API server that turns out to be another cluster's is not read in place of the one that is followed."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import (
    LATELY_S,
    ClusterIdentity,
    OtherClusterError,
    UnreachableError,
    run_with_timeout,
)
from engine.cluster.timing import BackOff
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.watcher import ClusterWatcher
from tests.cluster.doubles import Answer, Asked, ManualClock, Scripted, scripted
from tests.cluster.test_reflector import listed, pod
from tests.waiting import PATIENCE_S, wait_for


class Server:
    """A cluster with one pod, called like it; its watches end at once, so that they are opened again and again."""

    def __init__(self, uid: str, code: int = 200) -> None:
        self.uid, self.code = uid, code

    def __call__(self, asked: Asked, answer: Answer) -> None:
        if asked.path.endswith("/namespaces"):
            if self.code != 200:
                return answer.status(self.code, "as it is", "as it is")
            return answer.json(200, listed({"metadata": {"name": "kube-system", "uid": self.uid}}))
        if "watch" in asked.query:
            answer.begin()
            return answer.line({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "10"}}})
        return answer.json(200, listed(*([pod(self.uid)] if asked.path.endswith("/pods") else [])))


@contextlib.contextmanager
def following(connection: Connection, uid: str) -> Iterator[ClusterWatcher]:
    """A watcher of the cluster of that UID, until the block ends."""
    settings = ReflectorSettings(shortest_watch_s=0)
    watcher = ClusterWatcher(connection, uid=uid, settings=settings, back_off=lambda: BackOff(0.001, 0.01))
    watcher.start()
    try:
        yield watcher
    finally:
        assert watcher.stop(), "a thread did not stop"


def names(watcher: ClusterWatcher) -> list[str]:
    return [one.name for one in watcher.state().pods.values()]


def kinds(server: Scripted) -> set[str]:
    """What has been asked for."""
    return {asked.path.rpartition("/")[2] for asked in server.asked}


def test_nothing_is_read_of_another_cluster_than_the_one_that_is_known() -> None:
    """As after a restart with a kubeconfig that somebody has rewritten meanwhile."""
    with scripted(Server("theirs")) as server, following(server.connection(), "ours") as watcher:
        wait_for(lambda: watcher.health().stranger, "the stranger is found")
        assert not watcher.health().synced
        assert kinds(server) == {"namespaces"}


def test_a_server_that_becomes_another_clusters_is_noticed_when_a_watch_is_opened_anew() -> None:
    """Behind the same address, with credentials that hold; what was known stays, and is read anew afterwards."""
    script = Server("ours")
    with scripted(script) as server, following(server.connection(), "ours") as watcher:
        assert watcher.wait_synced(PATIENCE_S)
        assert not watcher.health().stranger
        script.uid = "theirs"
        wait_for(lambda: watcher.health().stranger, "the stranger is found")
        wait_for(lambda: all(one.error for one in watcher.health().kinds), "nothing is read of it any more")
        script.uid = "ours"
        wait_for(lambda: not watcher.health().stranger and not watcher.health().errors, "it is read again")
        wait_for(lambda: names(watcher) == ["ours"], "its pods are its own")


def test_where_no_uid_is_known_the_first_that_is_read_holds() -> None:
    """A cluster that was added without a look at it is known from then on."""
    script = Server("ours")
    with scripted(script) as server, following(server.connection(), "") as watcher:
        assert watcher.wait_synced(PATIENCE_S)
        assert watcher.uid == "ours"
        script.uid = "theirs"
        wait_for(lambda: watcher.health().stranger, "the stranger is found")


@pytest.mark.parametrize("code", [403, 404])
def test_where_the_uid_may_not_be_read_it_is_done_without(code: int) -> None:
    """The right is one of those that can be done without."""
    with scripted(Server("ours", code)) as server, following(server.connection(), "known") as watcher:
        assert watcher.wait_synced(PATIENCE_S)
        assert not watcher.health().stranger


def test_a_server_that_does_not_tell_any_more_is_a_stranger_still() -> None:
    """Only the right UID clears it."""
    script = Server("theirs")
    with scripted(script) as server, following(server.connection(), "ours") as watcher:
        wait_for(lambda: watcher.health().stranger, "the stranger is found")
        script.code = 403
        asked = len(server.asked)
        wait_for(lambda: len(server.asked) > asked + 10, "it is asked again")
        assert watcher.health().stranger
        assert not watcher.health().synced


def test_a_kubeconfig_that_is_put_right_is_read_anew_though_nobody_refused_the_wrong_one(tmp_path: Path) -> None:
    """Who follows it sees that it has moved, and begins anew."""
    config = tmp_path / "config"

    def leads_to(server: Scripted) -> None:
        config.write_text(
            "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}],"
            f" clusters: [{{name: c, cluster: {{server: '{server.address}'}}}}]}}"
        )

    with scripted(Server("theirs")) as wrong, scripted(Server("ours")) as right:
        leads_to(wrong)
        connection = Connection(ConnectionSettings(kubeconfig_path=str(config)))
        leads_to(right)
        with following(connection, "ours") as watcher:
            wait_for(lambda: watcher.health().stranger, "the stranger is found")
            wait_for(lambda: connection.moved, "the credentials are loaded anew")


def test_what_nobody_thought_of_is_not_told_as_a_matter_of_time() -> None:
    """A reading that fails in its own thread says so at once."""
    with pytest.raises(UnreachableError, match=r"failed with an unexpected error \(ZeroDivisionError\)"):
        run_with_timeout(lambda: 1 // 0)


def test_which_cluster_it_is_is_asked_once_in_a_while_as_long_as_all_goes_well() -> None:
    """However many kinds are followed; at once again where it was another's, or anything goes wrong."""
    server, clock = Server("ours"), ManualClock()
    with scripted(server) as there:
        same = ClusterIdentity(there.connection(), "ours", clock)
        for _ in range(19):
            same.check_lately()
        assert len(there.asked) == 1
        clock.now_s += LATELY_S
        same.check_lately()
        assert len(there.asked) == 2
        server.uid = "theirs"
        same.check_lately()
        clock.now_s += LATELY_S
        for _ in range(2):
            with pytest.raises(OtherClusterError):
                same.check_lately()
        assert len(there.asked) == 4


def test_watches_of_kinds_that_can_wait_last_longer() -> None:
    """An idle cluster is asked for few things; the picture counts as fresh all the same."""

    def lasting() -> dict[str, int]:
        watches = [one for one in there.asked if "watch" in one.query]
        return {one.path.rpartition("/")[2]: int(one.query["timeoutSeconds"]) for one in watches}

    with scripted(Server("ours")) as there, following(there.connection(), "ours"):
        wait_for(lambda: {"pods", "nodes", "persistentvolumes", "resourcequotas"} <= lasting().keys(), "every watch")
        found, usual = lasting(), ReflectorSettings().watch_s
    assert found["pods"] == found["nodes"] == usual
    assert (found["persistentvolumes"], found["resourcequotas"]) == (3 * usual, 6 * usual)
