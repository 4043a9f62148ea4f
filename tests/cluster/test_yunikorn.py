"""YuniKorn is asked itself: each of its events once, its queues now and then, and nothing of it ever stops a pass."""

import msgspec
import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.errors import ClusterError
from engine.cluster.timing import BackOff
from engine.cluster.watching.tables import TABLES
from engine.cluster.watching.watcher import ClusterWatcher
from engine.cluster.watching.yunikorn import AT_ONCE, BATCH, FIRST, QUEUES_EVERY_S, SERVICE, YunikornReader
from engine.formats.yunikorn.rest import ForeignAnswerError, Record, read_batch, read_queues
from engine.observation.evictions import EvictionSource, observe
from tests.builders import pod, tree
from tests.builders import queue as of_ours
from tests.cluster import yunikorn
from tests.cluster.doubles import Answer, Asked, ManualClock, Script, scripted
from tests.cluster.yunikorn import NODE_ADDED, StandIn, preempted, queue
from tests.waiting import wait_for

PODS = next(table for table in TABLES if table.kind == "Pod")
BY_ASK = "Preempted by f137fab6-3cfa-4536-93f7-bfff92689382 from application spark-1 in root.prod"


class Heard:
    """A reader with what it has passed on."""

    def __init__(self, connection: Connection) -> None:
        self.records: list[Record] = []
        self.clock = ManualClock()
        patience = BackOff(0.001, 0.01)
        self.reader = YunikornReader(
            connection, yunikorn.SERVICE, self.records.extend, clock=self.clock, back_off=patience
        )

    @property
    def uids(self) -> list[str]:
        return [one.uid for one in self.records]


def test_each_event_is_heard_once():
    """Those of before, then those that are new; what is no preemption is passed over."""
    stand_in = StandIn([NODE_ADDED, preempted("v1", BY_ASK), NODE_ADDED])
    with scripted(stand_in.script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
        heard.reader.query()
        assert heard.uids == ["v1"]
        stand_in.ring += [preempted("v2", BY_ASK), preempted("v3", BY_ASK)]
        heard.reader.query()
        heard.reader.query()
    assert heard.uids == ["v1", "v2", "v3"]
    assert {asked.method for asked in server.asked} == {"GET"}


def test_of_a_long_past_the_last_part_is_read():
    """By pieces of a bounded size."""
    old = [preempted(f"v{number}", BY_ASK) for number in range(FIRST + 500)]
    with scripted(StandIn(old, lowest=7).script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
    assert heard.uids == [f"v{number}" for number in range(500, FIRST + 500)]
    assert max(int(asked.query.get("count", 0)) for asked in server.asked) == BATCH


def test_where_it_began_anew_its_events_are_read_from_the_first():
    """Its ids begin anew with it, and may have come as far as they were."""
    stand_in = StandIn([NODE_ADDED, preempted("v1", BY_ASK)])
    with scripted(stand_in.script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
        stand_in.ring, stand_in.instance = [preempted("v2", BY_ASK), NODE_ADDED, NODE_ADDED], "another"
        heard.reader.query()
    assert heard.uids == ["v1", "v2"]


def test_what_it_no_longer_keeps_is_passed_over():
    """Its buffer turned over while it could not be asked."""
    stand_in = StandIn([preempted("v1", BY_ASK)])
    with scripted(stand_in.script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
        stand_in.ring, stand_in.lowest = [preempted("v900", BY_ASK)], 900
        heard.reader.query()
    assert heard.uids == ["v1", "v900"]


def test_an_empty_buffer_has_nothing_to_say():
    """The highest id of none is the largest number there is; what comes later is heard all the same."""
    stand_in = StandIn()
    with scripted(stand_in.script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
        stand_in.ring.append(preempted("v1", BY_ASK))
        heard.reader.query()
        heard.reader.query()
    assert heard.uids == ["v1"]


def test_two_behind_one_service_keep_nobody_busy():
    """Each answer of another instance: a round still ends."""
    stand_in = StandIn([NODE_ADDED])

    def script(asked: Asked, answer: Answer) -> None:
        stand_in.instance += "x"
        stand_in.script(asked, answer)

    with scripted(script) as server:
        Heard(server.connection()).reader.query()
    assert len(server.asked) <= AT_ONCE + 1


def test_its_queues_are_asked_for_now_and_then():
    """With the moment at which it said so."""
    stand_in = StandIn(root=queue("root", queue("root.prod", allocatedResource={"vcore": 1500, "memory": 7})))
    with scripted(stand_in.script) as server:
        heard = Heard(server.connection())
        heard.reader.query()
        first = heard.reader.reading
        heard.clock.now_s += QUEUES_EVERY_S - 1
        heard.reader.query()
        assert heard.reader.reading is first
        heard.clock.now_s += 1
        heard.reader.query()
    assert first is not None
    assert heard.reader.reading is not first
    assert [one.path for one in first.queues] == ["root", "root.prod"]
    assert first.queues[1].allocated == {"cpu": 1500, "memory": 7}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (yunikorn.disabled, "Event tracking is disabled"),
        (lambda _asked, answer: answer.status(403, "Forbidden", "no"), "apply deploy/yunikorn.yaml to grant it"),
        (lambda _asked, answer: answer.status(404, "NotFound", "no"), "the service does not exist"),
        (lambda _asked, answer: answer.status(503, "ServiceUnavailable", "no endpoints available"), "no endpoints"),
        (lambda _asked, answer: answer.json(200, {"hello": 1}), "the response is not from YuniKorn"),
        (lambda _asked, answer: answer.json(200, b"\xff{"), "the response is not from YuniKorn"),
        (lambda _asked, answer: answer.json(200, b"[" * 100_000), "the response is not from YuniKorn"),
        (lambda _asked, answer: answer.reset(), "connection"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(script: Script, why: str):
    """It is tried again, and told until all is well."""
    stand_in, broken = StandIn([preempted("v1", BY_ASK)]), [True]

    def either(asked: Asked, answer: Answer) -> None:
        script(asked, answer) if broken else stand_in.script(asked, answer)

    with scripted(either) as server:
        heard = Heard(server.connection())
        heard.reader.start()
        wait_for(lambda: why in heard.reader.trouble, f"it says {why}")
        broken.clear()
        wait_for(lambda: heard.uids == ["v1"] and not heard.reader.trouble, "it is heard again")
        assert heard.reader.stop()


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """Whoever answers there need not know any measure."""
    monkeypatch.setattr("engine.cluster.watching.yunikorn.LARGEST", 100_000)
    with scripted(lambda _asked, answer: answer.json(200, b" " * 200_000)) as server:
        heard = Heard(server.connection())
        with pytest.raises(ClusterError, match="longer than 100000 bytes"):
            heard.reader.query()


def test_a_watcher_takes_what_is_said_of_pods_that_it_saw():
    """Its word is as good as that of an Event; of a pod that nobody saw there is nothing to show."""
    watcher = ClusterWatcher(Connection(ConnectionSettings(address="http://127.0.0.1:9")))
    watcher.put(PODS, "uid-v1", pod("v1", queue="b", node="n1"))
    said = {"LowestID": 0, "HighestID": 1, "EventRecords": [preempted(f"uid-{name}", BY_ASK) for name in ("v1", "no")]}
    records = read_batch(msgspec.json.encode(said)).preempted
    watcher.record_preempted(records)
    watcher.record_preempted(records)
    state = watcher.state()
    assert list(state.yunikorn_records) == ["uid-v1"]
    (found,) = observe(state, tree({"b": of_ours()}), now_ms=records[0].at_ms + 5_000)
    assert (found.source, found.victims[0].pod.name, found.victims[0].known) == (EvictionSource.YUNIKORN, "v1", True)
    assert found.ask is not None
    assert (found.ask.queue, found.ask.application) == ("root.prod", "spark-1")


def test_its_documented_example_is_read():
    """There its queues are a list, and truth is a word."""
    example = b"""[{
        "queuename": "root", "status": "Active", "maxResource": {"memory": 8000000000, "vcore": 8000},
        "guaranteedResource": {"memory": 54000000, "vcore": 80}, "allocatedResource": {"memory": 54000000, "vcore": 80},
        "isLeaf": "false", "isManaged": "false", "properties": {"application.sort.policy": "stateaware"}, "parent": "",
        "template": {"maxResource": {"vcore": 8000}}, "partition": "default",
        "children": [{"queuename": "root.default", "maxResource": {"vcore": 8000}, "isLeaf": "true", "template": null,
                      "children": [], "maxRunningApps": 12, "allocatingAcceptedApps": ["app-1", "app-2"]}]
    }]"""
    root, leaf = read_queues(example)
    assert (root.path, root.guaranteed, root.leaf) == ("root", {"memory": 54000000, "cpu": 80}, False)
    assert (leaf.path, leaf.max, leaf.leaf, leaf.delay_ms, leaf.disabled) == (
        "root.default",
        {"cpu": 8000},
        True,
        None,
        False,
    )


def test_every_figure_of_a_queue_is_read():
    """In our words and units."""
    (found,) = read_queues(
        msgspec.json.encode(
            queue(
                "root.a",
                guaranteedResource={"vcore": 2000},
                maxResource={"vcore": 4000, "nvidia.com/gpu": 2},
                preemptingResource={"vcore": 500, "pods": 1},
                preemptionEnabled=False,
                isPreemptionFence=True,
                preemptionDelay="1m30s",
            )
        )
    )
    assert (found.guaranteed, found.max) == ({"cpu": 2000}, {"cpu": 4000, "nvidia.com/gpu": 2})
    assert (found.preempting, found.disabled, found.fence, found.delay_ms) == (
        {"cpu": 500, "pods": 1},
        True,
        True,
        90_000,
    )


@pytest.mark.parametrize("answer", [b"", b"null", b"7", b"[]x", b'{"queuename": 7}', b'{"LowestID": "a"}'])
def test_what_is_none_of_its_documents_is_said_to_be_none(answer: bytes):
    """Whatever else answers there."""
    with pytest.raises(ForeignAnswerError):
        read_queues(answer)
    with pytest.raises(ForeignAnswerError):
        read_batch(answer)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("yunikorn/yunikorn-service:9080", True),
        ("ns/svc:http-port", True),
        ("yunikorn-service:9080", False),
        ("ns/svc", False),
        ("ns/svc:80/../../secrets", False),
        ("../api:80", False),
        ("NS/svc:80", False),
        ("ns/svc:80\n", False),
    ],
)
def test_only_a_service_and_its_port_can_be_named(text: str, holds: bool):
    """It becomes a part of a path that our credentials are sent to."""
    assert bool(SERVICE.fullmatch(text)) is holds
