"""One acting engine per cluster."""

import pytest

from engine.cluster.acting.lease import LEASE_NAME, LEASE_NAMESPACE, STOP, ClusterLease
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from tests.cluster.doubles import ManualClock, scripted
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.wire import MERGE
from tests.waiting import wait_for

KEY = "leases.coordination.k8s.io"
TIMEOUT_S = 10.0


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that stands still."""
    return ManualClock()


def claim(cluster: AnyCluster, identity: str, clock: ManualClock) -> ClusterLease:
    return ClusterLease(cluster.connection(), identity=identity, clock=clock)


def stored(cluster: AnyCluster) -> dict:
    return cluster.get(KEY, LEASE_NAME, LEASE_NAMESPACE)["spec"]


def held(cluster: AnyCluster, clock: ManualClock, identity: str = "a") -> ClusterLease:
    """Return a lease that has been held long enough to act."""
    lease = claim(cluster, identity, clock)
    for _ in range(4):
        assert lease.renew()
        clock.now_s += 5
    assert lease.renew()
    assert lease.holds_now(TIMEOUT_S)
    return lease


def test_a_first_holder_waits_one_duration(cluster: AnyCluster, clock: ManualClock):
    """Where no lease is, somebody may have held one that was deleted: the taker acts after one duration only."""
    lease, acts = claim(cluster, "a", clock), []
    for _ in range(4):
        assert lease.renew()
        acts.append(lease.holds_now(TIMEOUT_S))
        clock.now_s += 5
    assert acts == [False, False, False, True]
    assert (stored(cluster)["holderIdentity"], stored(cluster)["leaseDurationSeconds"]) == ("a", 15)


def annotate(cluster: AnyCluster, value: str | None) -> None:
    """As ``kubectl annotate`` does."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/{LEASE_NAME}"
    code, answer = cluster.raw("PATCH", path, {"metadata": {"annotations": {STOP: value}}}, MERGE)
    assert code == 200, answer


def test_an_annotation_of_the_lease_stops_whoever_acts_until_it_is_taken_away(
    cluster: AnyCluster, clock: ManualClock
) -> None:
    """From the next renewal on, and nobody else takes over; what the lease says besides stays."""
    lease = held(cluster, clock)
    annotate(cluster, "outage 4711")
    assert not lease.renew()
    assert (lease.stopped, lease.holds_now(0), lease.error) == ("outage 4711", False, "")
    other = claim(cluster, "b", clock)
    for _ in range(5):
        assert not other.renew()
        clock.now_s += 5
    assert cluster.get(KEY, LEASE_NAME, LEASE_NAMESPACE)["metadata"]["annotations"] == {STOP: "outage 4711"}
    annotate(cluster, None)
    assert lease.renew()
    assert lease.stopped is None
    assert lease.holds_now(TIMEOUT_S)


def test_what_others_note_on_the_lease_stays(cluster: AnyCluster, clock: ManualClock) -> None:
    """It is renewed three times in its duration."""
    lease = held(cluster, clock)
    path = f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/{LEASE_NAME}"
    noted = {"annotations": {"team": "platform"}, "labels": {"tier": "one"}}
    assert cluster.raw("PATCH", path, {"metadata": noted}, MERGE)[0] == 200
    assert lease.renew()
    meta = cluster.get(KEY, LEASE_NAME, LEASE_NAMESPACE)["metadata"]
    assert (meta["annotations"], meta["labels"]) == (noted["annotations"], noted["labels"])


def test_a_request_is_sent_only_if_the_lease_outlasts_it(cluster: AnyCluster, clock: ManualClock):
    """Held from the renewal on for 15 s, less the time that the request may take, to the very second."""
    lease = held(cluster, clock)
    now = clock.now_s
    got = [lease.holds(now + after, TIMEOUT_S) for after in (0, 4.9, 5.0, 14)]
    assert got == [True, True, False, False]
    assert [lease.holds(now + after, 0) for after in (14.9, 15.0)] == [True, False]


def test_another_waits_until_the_holder_has_been_silent_for_a_duration(cluster: AnyCluster, clock: ManualClock):
    """The second engine takes over 15 s after it last saw a renewal, by its own clock, and never before."""
    first, second = held(cluster, clock), claim(cluster, "b", clock)
    assert not second.renew()
    clock.now_s += 14
    assert first.renew()
    for _ in range(3):
        assert not second.renew()
        clock.now_s += 5
    assert second.renew()
    assert (second.holds_now(TIMEOUT_S), stored(cluster)["leaseTransitions"]) == (True, 1)


def test_a_holder_that_was_paused_does_not_act(cluster: AnyCluster, clock: ManualClock):
    """Paused past its expiry and resumed, the old holder holds nothing, before and after it looks."""
    first, second = held(cluster, clock), claim(cluster, "b", clock)
    second.renew()
    clock.now_s += 15
    assert second.renew()
    assert not first.holds_now(TIMEOUT_S)
    assert not first.renew()
    assert (first.holds_now(0), first.holder, second.holds_now(TIMEOUT_S)) == (False, "b", True)


def test_at_no_moment_do_two_hold(cluster: AnyCluster, clock: ManualClock):
    """Whoever is paused when and for how long: the times at which two engines may send never overlap."""
    leases = [claim(cluster, name, clock) for name in "ab"]
    holders = set()
    for second in range(240):
        awake = [lease for number, lease in enumerate(leases) if (second // (23 + 14 * number)) % 3]
        for lease in awake if second % 2 else reversed(awake):
            lease.renew()
        holding = [number for number, lease in enumerate(leases) if lease.holds_now(0)]
        assert len(holding) <= 1
        holders.update(holding)
        clock.now_s += 1
    assert holders == {0, 1}


def test_a_holder_whose_lease_is_given_away_stops_at_once(cluster: AnyCluster, clock: ManualClock):
    """Whoever is written into the lease by hand has it: the former holder stops as soon as it looks."""
    lease = held(cluster, clock)
    by_hand = {"holderIdentity": "by-hand"}
    cluster.change(KEY, LEASE_NAME, lambda obj: obj["spec"].update(by_hand), LEASE_NAMESPACE)
    assert not lease.renew()
    assert (lease.holds_now(0), lease.holder) == (False, "by-hand")


def test_of_two_takers_one_wins(cluster: AnyCluster, clock: ManualClock):
    """Both see an abandoned lease; the compare-and-swap lets one have it."""
    held(cluster, clock)
    takers = [claim(cluster, name, clock) for name in "bc"]
    for lease in takers:
        lease.renew()
    clock.now_s += 15
    read = takers[0]._api.read_namespaced_lease

    def overtaken(*asked: str, **options: float):
        found = read(*asked, **options)
        takers[1].renew()
        return found

    takers[0]._api.read_namespaced_lease = overtaken
    assert not takers[0].renew()
    assert (takers[1].holds_now(TIMEOUT_S), stored(cluster)["holderIdentity"]) == (True, "c")


def test_a_lease_given_back_is_free_at_once(cluster: AnyCluster, clock: ManualClock):
    """On shutdown the lease is released, and the next engine need not wait."""
    first, second = held(cluster, clock), claim(cluster, "b", clock)
    assert not second.renew()
    first.stop()
    assert not first.holds_now(0)
    assert second.renew()
    assert second.holds_now(TIMEOUT_S)


def test_a_release_leaves_anothers_lease_alone(cluster: AnyCluster, clock: ManualClock):
    """Who lost the lease without noticing does not give back the new holder's."""
    first, second = held(cluster, clock), claim(cluster, "b", clock)
    second.renew()
    clock.now_s += 15
    assert second.renew()
    first.release()
    assert stored(cluster)["holderIdentity"] == "b"


def test_a_failed_renewal_does_not_prolong(cluster: AnyCluster, clock: ManualClock):
    """While the API server is away the hold runs out; the reason is told."""
    lease = held(cluster, clock)
    with scripted(lambda asked, answer: answer.status(503, "", "away")) as server:
        lease._api.api_client = KubernetesClient(server.connection())
        clock.now_s += 10
        assert lease.renew()  # still ours, for five more seconds
        assert (lease.error, lease.holds_now(4), lease.holds_now(5)) == ("away", True, False)
        clock.now_s += 5
        assert not lease.renew()


def test_a_thread_keeps_the_lease(cluster: AnyCluster):
    """Started, the lease is renewed in the background; stopped, it is given back."""
    lease = ClusterLease(cluster.connection(), identity="a", duration_s=1)
    lease.start()
    wait_for(lambda: lease.holds_now(0.1), "the lease is held")
    lease.stop()
    assert (lease.holds_now(0), stored(cluster)["holderIdentity"]) == (False, "")


def test_a_slow_answer_does_not_make_a_holder_seem_silent_for_longer(cluster: AnyCluster, clock: ManualClock):
    """What is read was renewed just before it was answered: the duration counts from the answer, not the question."""
    first, second = held(cluster, clock), claim(cluster, "b", clock)
    read = second._api.read_namespaced_lease

    def slow(*asked: str, **options: float):
        clock.now_s += 4
        assert first.renew()
        return read(*asked, **options)

    second._api.read_namespaced_lease = slow
    second.renew()
    second._api.read_namespaced_lease = read
    clock.now_s += 12
    assert first.holds_now(0)
    assert not second.renew()
    clock.now_s += 3
    assert second.renew()
