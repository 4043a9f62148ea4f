"""What Volcano reclaimed is decided again by its own rules, on its queues as they were just before: also for whom."""

from typing import Any

import msgspec
import pytest

from engine.explain.observed.replay import no_counterfactuals_reason, replay_lines
from engine.formats.volcano.pod_groups import GROUP_READER
from engine.formats.volcano.watched import QUEUE_READER, SETTINGS_READER
from engine.model.objects import Pod, Preempted, Taint
from engine.model.snapshot import ClusterState, ObjectChange
from engine.observation.evictions import EvictionSource, NotReplayedReason, Observed, decode, encode, observe
from engine.observation.replay import replay_observed
from engine.observation.replay import volcano as hindsight
from tests.builders import NOW, ask, node, pod, queue, tree

AT = NOW - 5_000
TREE = tree({"a": queue("2")})
CONFIGURATION = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: predicates
  - name: proportion
"""


class Volcano:
    """Queue hog has all eight cores of each node, and queue poor asks for two, once."""

    def __init__(self, *nodes: str) -> None:
        self.state = ClusterState()
        config = {
            "metadata": {"name": "volcano-scheduler-configmap"},
            "data": {"volcano-scheduler.conf": CONFIGURATION},
        }
        settings = SETTINGS_READER.from_bytes(msgspec.json.encode(config))
        assert settings is not None
        self.state.volcano_settings[settings.name] = settings
        for name in ("hog", "poor"):
            one = QUEUE_READER.from_bytes(
                msgspec.json.encode({"metadata": {"name": name}, "status": {"state": "Open"}})
            )
            self.state.volcano_queues[name] = one
            group = {"spec": {"queue": name, "minMember": 1}, "status": {"phase": "Running"}}
            made = GROUP_READER.from_bytes(
                msgspec.json.encode({"metadata": {"namespace": "ns", "name": name}, **group})
            )
            self.state.pod_groups[made.namespace, made.name] = made
        for name in nodes or ("n1",):
            self.state.nodes[name] = node(name, 8)
            for number in range(8):
                self.put(pod(f"hog-{name}-{number}", node=name, pod_group="hog", started_ms=number, created_ms=number))
        self.put(ask("web", cpu=2, pod_group="poor"))

    def put(self, one: Pod) -> None:
        self.state.pods[one.uid] = one

    def reclaims(self, *names: str, why: str = "reclaim") -> None:
        """What it writes, and that it deletes them."""
        for name in names:
            uid = f"uid-{name}"
            before = self.state.pods[uid]
            after = msgspec.structs.replace(before, terminating=True, deleted_ms=AT)
            self.state.changes.append(ObjectChange(lambda state: state.pods, uid, before, after))
            self.put(after)
            self.state.volcano[uid] = Preempted(uid=uid, namespace="ns", name=name, at_ms=AT, why=why)

    def seen(self) -> Observed:
        """The one preemption, with hindsight."""
        (found,) = replay_observed(observe(self.state, TREE, now_ms=NOW), self.state, lambda _ms: TREE).decisions
        assert found.source is EvictionSource.VOLCANO
        return decode(encode(found))

    def lines(self) -> list[str]:
        return [_text(message) for message in replay_lines(self.seen())]


def _text(message: Any) -> str:
    template = message.plural if message.count not in (None, 1) else message.id
    return str(template % ({"count": message.count} | {name: str(value) for name, value in message.params.items()}))


def test_its_own_rules_come_to_the_same_and_say_for_whom() -> None:
    """Volcano itself writes that nowhere."""
    volcano = Volcano()
    volcano.reclaims("hog-n1-1", "hog-n1-0")
    hindsight = volcano.seen().hindsight
    assert hindsight is not None
    decision = hindsight.decision
    assert (decision.policy, decision.dialect, decision.node, decision.ask.key) == (
        "deserved",
        "volcano",
        "n1",
        "ns/web",
    )
    assert "gives the same result: the same victims." in volcano.lines()[0]
    assert volcano.lines()[1:] == [
        "By its rules, this makes room for ns/web of the queue poor, which is below its deserved share.",
    ]
    assert "Volcano does not report for whom it was reclaimed" in _text(
        no_counterfactuals_reason(volcano.seen(), is_stored=True)[0]
    )


def test_that_it_looks_at_nodes_by_chance_is_no_other_answer() -> None:
    """The node that it took is looked at first."""
    volcano = Volcano("n1", "n2")
    volcano.reclaims("hog-n2-1", "hog-n2-0")
    assert "gives the same result: the same victims." in volcano.lines()[0]


@pytest.mark.parametrize("went", [("hog-n1-7", "hog-n1-6"), ("hog-n1-2", "hog-n1-5")])
def test_nor_that_it_looks_at_the_pods_of_a_node_by_chance(went: tuple[str, str]) -> None:
    """Those that went are looked at first: whether any order of them leads there is what is asked."""
    volcano = Volcano()
    volcano.reclaims(*went)
    assert "gives the same result: the same victims." in volcano.lines()[0]


def test_more_than_the_ask_needs_is_no_chance() -> None:
    """No order of the pods leads there."""
    volcano = Volcano()
    volcano.reclaims("hog-n1-2", "hog-n1-5", "hog-n1-6")
    lines = volcano.lines()
    assert "gives other victims." in lines[0]
    assert "The reason is unknown." in lines[-1]


def test_what_else_goes_on_other_nodes_may_be_chance() -> None:
    """In which order it looked at them, nobody tells."""
    volcano = Volcano("n1", "n2")
    volcano.reclaims("hog-n2-1", "hog-n2-0", "hog-n2-4")
    assert "in random order, so its result differs from run to run" in volcano.lines()[-1]


def test_where_its_predicates_keep_the_ask_off_a_node_it_takes_nothing_there() -> None:
    """Our own checks stand for them."""
    volcano = Volcano()
    volcano.state.nodes["n1"] = node("n1", 8, taints=(Taint("k"),))
    volcano.reclaims("hog-n1-1", "hog-n1-0")
    assert "reclaims nothing" in volcano.lines()[0]


def test_it_is_not_decided_again_where_that_would_hold_up_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pod that asks may have to be held against each that runs."""
    monkeypatch.setattr(hindsight, "_MOST", 7)
    volcano = Volcano()
    volcano.reclaims("hog-n1-1", "hog-n1-0")
    assert (volcano.seen().hindsight, volcano.seen().untold) == (None, NotReplayedReason.TOO_MANY)


def test_it_is_not_decided_again_where_how_it_is_set_is_not_known() -> None:
    """Nor what its other actions do."""
    volcano = Volcano()
    volcano.state.volcano_settings.clear()
    volcano.reclaims("hog-n1-1", "hog-n1-0")
    assert (volcano.seen().hindsight, volcano.seen().untold) == (None, NotReplayedReason.NOT_SEEN)
    other = Volcano()
    other.reclaims("hog-n1-1", why="preempt")
    assert (other.seen().hindsight, other.seen().untold) == (None, NotReplayedReason.OTHER_RULES)
