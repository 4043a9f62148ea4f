"""Volcano's ``reclaim`` in dialect ``volcano``: its quirks one by one."""

from collections.abc import Iterable
from typing import Any

import msgspec

from engine.formats.volcano.cluster import read_configuration
from engine.model.objects import (
    DisruptionBudget,
    Node,
    Pod,
    PodGroup,
    PriorityClass,
    Requirement,
    SharePlugin,
    Task,
    VolcanoCluster,
    VolcanoPod,
    VolcanoQueue,
    VolcanoSettings,
    volcano_cluster,
)
from engine.model.quantities import Amounts
from engine.policies.volcano import reclaim

FLAT = (("priority", "gang", "conformance", "proportion"),)
SPLIT = (("priority", "gang", "conformance"), ("proportion",))
MANY = 100_000
ONE = {"n1": {"cpu": 8000, "pods": 110}}


def pod(group: str, number: int, cpu: int = 1000, *, node: str = "n1", **settings: Any) -> VolcanoPod:
    """Running where a node is given; ``group`` is ``namespace/name``."""
    namespace, name = group.split("/")
    known = {"preemptable", "task"}
    own = {name: value for name, value in settings.items() if name not in known}
    made = Pod(
        uid=f"{group}-{number}",
        namespace=namespace,
        name=f"{name}-{number}",
        node=node or None,
        requests={"cpu": cpu, "pods": 1},
        created_ms=own.pop("created_ms", number),
        **own,
    )
    task = Task.RUNNING if node else Task.PENDING
    return VolcanoPod(pod=made, group=group, **{"task": task, **{k: v for k, v in settings.items() if k in known}})


def pods(group: str, count: int, **settings: Any) -> list[VolcanoPod]:
    """So many alike."""
    return [pod(group, number, **settings) for number in range(count)]


def group(key: str, **settings: Any) -> PodGroup:
    """In the queue of its namespace's name."""
    namespace, name = key.split("/")
    return PodGroup(**{"namespace": namespace, "name": name, "queue": namespace, "min_member": 1, **settings})


def session(
    groups: Iterable[PodGroup],
    *given: list[VolcanoPod],
    queues: Iterable[VolcanoQueue] = (),
    tiers: tuple[tuple[str, ...], ...] = FLAT,
    nodes: dict[str, Amounts] | None = None,
    budgets: tuple[DisruptionBudget, ...] = (),
) -> VolcanoCluster:
    """Of plugin ``proportion``, with one node of 8 cores where nothing is said."""
    wanted = tuple(groups)
    named = {one.queue: VolcanoQueue(name=one.queue) for one in wanted} | {one.name: one for one in queues}
    return volcano_cluster(
        VolcanoSettings(plugin=SharePlugin.PROPORTION, tiers=tiers),
        named.values(),
        wanted,
        [one for some in given for one in some],
        [Node(name=name, allocatable=amounts) for name, amounts in (nodes or ONE).items()],
        {"low": PriorityClass(name="low", value=-1)},
        budgets,
    )


def gone(cluster: VolcanoCluster) -> list[str]:
    """The keys of those that go, in order."""
    return [one.pod.key for turn in reclaim(cluster) for one in turn.victims]


HOG, ASKS = group("hog/job", created_ms=1), group("poor/new", created_ms=2)
ASK = [pod("poor/new", 0, 2000, node="")]


def test_a_queue_below_what_it_deserves_takes_from_one_above_and_only_as_much_as_it_takes() -> None:
    """Both deserve what they ask, or half of 8 cores. Of two that may go the newest do."""
    (turn,) = reclaim(session((HOG, ASKS), pods("hog/job", 8), ASK))
    assert (turn.ask.pod.key, turn.node) == ("poor/new-0", "n1")
    assert [one.pod.key for one in turn.victims] == ["hog/job-1", "hog/job-0"]


def test_with_the_default_tiers_a_queue_within_what_it_deserves_is_taken_from() -> None:
    """Gang and conformance have an answer, so proportion is not asked: the proposal's constraint is broken."""
    groups = HOG, ASKS, group("quiet/job", created_ms=3)
    given = pods("hog/job", 6, cpu=1000), pods("quiet/job", 2, cpu=1000), ASK
    rank = VolcanoQueue(name="hog", priority=1), VolcanoQueue(name="poor", priority=2)
    assert gone(session(groups, *given, queues=rank, tiers=SPLIT)) == ["quiet/job-0", "hog/job-4"]
    assert gone(session(groups, *given, queues=rank, tiers=FLAT)) == ["hog/job-1", "hog/job-0"]


def test_a_gang_that_would_still_lack_pods_gets_none() -> None:
    """All that was taken for it stays where it is."""
    gang = group("poor/new", min_member=4)
    asks = [pod("poor/new", number, 2000, node="") for number in range(4)]
    assert gone(session((HOG, gang), pods("hog/job", 8), asks)) == []
    two = msgspec.structs.replace(gang, min_member=2)
    assert gone(session((HOG, two), pods("hog/job", 8), asks)) == ["hog/job-3", "hog/job-2", "hog/job-1", "hog/job-0"]


def test_pods_beyond_what_a_gang_needs_never_ask() -> None:
    """With gang, starving is lacking pods to start; without it, each pending pod is."""
    asks = [pod("poor/new", number, 1000, node="") for number in range(3)]
    assert len(gone(session((HOG, ASKS), pods("hog/job", 8), asks))) == 1
    assert len(gone(session((HOG, ASKS), pods("hog/job", 8), asks, tiers=(("priority", "proportion"),)))) == 3


def test_a_gang_is_never_taken_below_what_it_needs() -> None:
    """Of eight it needs seven."""
    whole = msgspec.structs.replace(HOG, min_member=7)
    assert gone(session((whole, ASKS), pods("hog/job", 8), [pod("poor/new", 0, 1000, node="")])) == ["hog/job-0"]
    assert gone(session((whole, ASKS), pods("hog/job", 8), ASK)) == []


def test_a_pod_group_that_is_not_let_in_does_not_ask() -> None:
    """Its pods count as asked all the same."""
    waits = msgspec.structs.replace(ASKS, enqueued=False)
    assert gone(session((HOG, waits), pods("hog/job", 8), ASK)) == []


def test_pods_of_kube_system_and_critical_ones_never_go() -> None:
    """As conformance has it."""
    system = group("kube-system/job", queue="hog")
    critical = pods("hog/job", 4, priority_class="system-node-critical")
    assert gone(session((HOG, system, ASKS), critical, pods("kube-system/job", 4), ASK)) == []


def test_what_says_so_is_not_taken() -> None:
    """A pod by its annotation, a queue by its spec."""
    assert gone(session((HOG, ASKS), pods("hog/job", 8, preemptable=False), ASK)) == []
    assert (
        gone(session((HOG, ASKS), pods("hog/job", 8), ASK, queues=[VolcanoQueue(name="hog", reclaimable=False)])) == []
    )
    assert gone(session((HOG, ASKS), pods("hog/job", 8), ASK, queues=[VolcanoQueue(name="poor", open=False)])) == []


def test_the_plugin_pdb_heeds_budgets_and_spares_whatever_has_no_labels() -> None:
    """In the same tier as proportion."""
    with_budgets = (("priority", "gang", "conformance", "pdb", "proportion"),)
    one = DisruptionBudget(namespace="hog", name="one", expressions=(Requirement("app", "In", ("x",)),), allowed=1)
    small = [pod("poor/new", 0, 1000, node="")]
    labelled = pods("hog/job", 8, labels={"app": "x"})
    assert gone(session((HOG, ASKS), labelled, small, tiers=with_budgets, budgets=(one,))) == ["hog/job-0"]
    assert gone(session((HOG, ASKS), labelled, ASK, tiers=with_budgets, budgets=(one,))) == []
    assert gone(session((HOG, ASKS), pods("hog/job", 8), small, tiers=with_budgets)) == []


def test_room_without_anybody_going_is_given_only_beside_pods_of_others() -> None:
    """A node that is empty is passed over."""
    nodes = {"empty": {"cpu": MANY, "pods": 110}, "n1": {"cpu": 12_000, "pods": 110}}
    (turn,) = reclaim(session((HOG, ASKS), pods("hog/job", 8), ASK, nodes=nodes))
    assert (turn.node, turn.victims) == ("n1", ())


def test_what_is_on_its_way_out_is_room_already() -> None:
    """Two leave, which is all that is asked."""
    leaving = [pod("hog/job", number, task=Task.RELEASING, terminating=True) for number in (6, 7)]
    (turn,) = reclaim(session((HOG, ASKS), pods("hog/job", 6), leaving, ASK))
    assert turn.victims == ()


def test_pods_go_until_the_ask_fits_whether_each_one_helps_or_not() -> None:
    """Those of the lowest PodGroup first, though the one in it holds next to nothing."""
    low, tiers = group("hog/low", priority_class="low"), (("priority", "gang", "conformance"),)
    given = pods("hog/job", 7), [pod("hog/low", number, 1) for number in range(2)], ASK
    found = gone(session((HOG, low, ASKS), *given, nodes={"n1": {"cpu": 7002, "pods": 110}}, tiers=tiers))
    assert found == ["hog/low-0", "hog/job-5", "hog/job-4"]


def test_one_answer_that_nobody_shares_is_forgotten() -> None:
    """Gang names the pod of kube-system alone, conformance the others alone: then the next plugin alone is heard."""
    system = group("kube-system/job", queue="hog", min_member=1)
    whole = msgspec.structs.replace(HOG, min_member=4)
    given = pods("kube-system/job", 5), pods("hog/job", 4)
    found = gone(session((system, whole, ASKS), *given, ASK, nodes={"n1": {"cpu": 9000, "pods": 110}}))
    assert found == ["hog/job-1", "hog/job-0"]


def test_the_scheduler_s_configuration_says_which_plugins_count() -> None:
    """In tiers, with how far up a tree is looked."""
    text = """
actions: "reclaim"
tiers:
- plugins:
  - name: priority
- plugins:
  - name: capacity
    enableHierarchy: true
    arguments:
      ancestorReclaimLevel: 2
"""
    found = read_configuration(text)
    assert found == VolcanoSettings(
        plugin=SharePlugin.CAPACITY, hierarchical=True, ancestor_levels=2, tiers=(("priority",), ("capacity",))
    )
    assert read_configuration("tiers: []") is None
