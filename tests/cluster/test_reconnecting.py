"""After whatever breaks, a cluster is read again: not in step with others, and without forgetting or inventing."""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.timing import BackOff
from engine.cluster.watching.watcher import ClusterWatcher
from tests.cluster.doubles import Answer, Asked, ManualClock, scripted
from tests.cluster.test_reflector import EXPIRED, event, listed, pod
from tests.waiting import PATIENCE_S, wait_for

WAITING = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_waits_grow_and_are_bounded(jitters: list[float]) -> None:
    """Each lies between half of its step and the step, which doubles up to the longest."""
    given = iter(jitters)
    back_off = BackOff(0.5, 30.0, jitter=lambda: next(given))
    for attempt, wait_s in enumerate(back_off.next_s() for _ in range(len(jitters))):
        step_s = min(0.5 * 2**attempt, 30.0)
        assert step_s / 2 <= wait_s <= step_s


def test_many_that_lost_the_same_server_do_not_return_in_step() -> None:
    """Of a thousand clients no tenth of the time between the first and the last sees more than a fifth."""
    random = Random(1)
    clients = [BackOff(jitter=random.random) for _ in range(1_000)]
    for attempt in range(8):
        waits = [client.next_s() for client in clients]
        first, spread = min(waits), max(waits) - min(waits)
        assert spread > 0.2 * 2 ** min(attempt, 5)
        tenths = [int(10 * (wait - first) / spread) for wait in waits]
        assert max(tenths.count(tenth) for tenth in set(tenths)) < 200


class Server:
    """Pods in pages and watches, by script; other kinds are empty."""

    def __init__(self, lists: list[Any], watches: list[Any]) -> None:
        self.lists, self.watches = lists, watches

    def __call__(self, asked: Asked, answer: Answer) -> None:
        pods = asked.path.endswith("/pods")
        if "watch" not in asked.query:
            step = self.lists.pop(0) if pods else listed()
            return step(answer) if callable(step) else answer.json(200, step)
        answer.begin()
        for one in self.watches.pop(0) if pods and self.watches else [Answer.hang]:
            one(answer) if callable(one) else answer.line(one)
        return None


def expired(answer: Answer) -> None:
    answer.json(410, EXPIRED)


def asking(name: str) -> dict[str, Any]:
    return {**pod(name), "status": {"conditions": WAITING}}


def test_a_list_that_expires_half_way_loses_no_ask_and_lets_no_victim_go() -> None:
    """While it is begun anew everything stands as it was; then what has really gone is remembered, once, with when."""
    seen: list[tuple[set[str], set[str]]] = []

    def look(answer: Answer) -> None:
        seen.append(({one.name for one in watcher.state().pods.values()}, set(watcher.state().departed)))
        expired(answer)

    first = listed(asking("ask"), pod("victim", nodeName="n1"), pod("gone", nodeName="n1"))
    again = listed(asking("ask"), pod("victim", nodeName="n1"), version=50)
    half = listed(asking("ask"), more="next")
    server = Server([first, half, look, half, look, again], [[event("ERROR", EXPIRED)]])
    with scripted(server) as served:
        clock = ManualClock()
        watcher = ClusterWatcher(served.connection(), back_off=lambda: BackOff(0.001, 0.002), clock=clock)
        watcher.start()
        assert watcher.wait_synced(PATIENCE_S)
        before = watcher.pod("uid-ask")
        wait_for(lambda: watcher.pod("uid-gone") is None, "the new list was taken over")
        assert seen == [({"ask", "victim", "gone"}, set())] * 2
        assert watcher.pod("uid-ask") is before
        assert {uid: one.deleted_ms for uid, one in watcher.state().departed.items()} == {"uid-gone": clock.wall_ms()}
        assert watcher.stop()
