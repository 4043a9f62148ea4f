"""Kueue's objects are read into a tree with every remark they deserve, and written back with nothing else changed."""

import difflib
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kueue import read, write
from engine.formats.kueue.object_kinds import KUEUE
from engine.formats.tree_objects import after_apply, parse, removal_patch
from engine.model.notes import ImportFailure, Severity
from engine.model.queue_tree import WEIGHT_ONE, PreemptionPolicy, Queue, QueueTree, Take
from tests.builders import amounts, queue, tree
from tests.engine.strategies import queue_trees
from tests.properties import examples

RECORDED = sorted((Path(__file__).parents[1] / "data" / "kueue").glob("*.yaml"))
FENCED = PreemptionPolicy.FENCE
NOBODY: dict[str, Any] = {"take_within": Take.NEVER, "take_reclaim": Take.NEVER, "take_borrowing": False}
"""Whom a ClusterQueue may preempt that does not say it."""
DOCUMENT = dedent(
    """\
    # who owns this file
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: ResourceFlavor
    metadata: {name: default}
    ---
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: Cohort
    metadata:
      name: research
    spec:
      fairSharing: {weight: "2"}
    ---
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: ClusterQueue
    metadata:
      name: vision   # the big one
    spec:
      cohort: research
      namespaceSelector: {}
      preemption:
        withinClusterQueue: LowerPriority
      resourceGroups:
      - coveredResources: ["cpu", "memory"]
        flavors:
        - name: default
          resources:
          - {name: cpu, nominalQuota: 9000m, borrowingLimit: "3"}
          - name: memory
            nominalQuota:   36Gi    # half of a rack
            lendingLimit: 4Gi
    ---
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: ClusterQueue
    metadata:
      name: text
    spec: {cohort: research}
    ---
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: LocalQueue
    metadata: {name: main, namespace: search}
    spec: {clusterQueue: vision}
    """
)


def errors(text: str) -> list[tuple[int | None, str]]:
    """Line and sentence of the errors of a text that is refused."""
    with pytest.raises(ImportFailure) as refused:
        read(text)
    return [(note.line, note.text) for note in refused.value.notes if note.severity is Severity.ERROR]


def notes(text: str, severity: Severity = Severity.INFO) -> list[tuple[int | None, str]]:
    """Likewise of the remarks on a text that is read."""
    return [(note.line, note.text) for note in read(text).notes if note.severity is severity]


def cluster_queue(name: str, spec: str = "{}") -> str:
    """A document of one ClusterQueue."""
    return f"---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {spec}\n"


def quota(*entries: str, flavor: str = "default") -> str:
    """The resource groups of one flavor."""
    names = ", ".join(entry.partition("name: ")[2].partition(",")[0].strip("}") for entry in entries)
    flavors = f"[{{name: {flavor}, resources: [{', '.join(entries)}]}}]"
    return f"{{coveredResources: [{names}], flavors: {flavors}}}"


FLAVOR = "{name: f, resources: [%s]}"


def changed(text: str, shape: QueueTree) -> list[str]:
    """The lines that writing a tree takes away from a text, and adds to it."""
    lines = difflib.unified_diff(text.splitlines(), write(text, shape).text.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def with_queue(shape: QueueTree, path: str, **values: Any) -> QueueTree:
    """The tree with settings of one queue changed."""
    return QueueTree(
        msgspec.structs.replace(one, **values) if one.path == path else one for one in shape.queues.values()
    )


def declared(shape: QueueTree) -> dict[str, Queue]:
    """The queues of a tree in which every parent is declared as one."""
    return {
        path: msgspec.structs.replace(shape[path], parent_declared=not shape.is_leaf(path)) for path in shape.walk()
    }


def test_cohorts_are_parents_and_cluster_queues_leaves() -> None:
    """Nominal quotas are guaranteed, borrowing limits come on top; at a cohort's border nothing is preempted."""
    assert read(DOCUMENT).tree.queues == {
        "root": Queue(path="root", parent_declared=True),
        "root.research": Queue(
            path="root.research", parent_declared=True, preemption_policy=FENCED, weight=2 * WEIGHT_ONE
        ),
        "root.research.vision": Queue(
            path="root.research.vision",
            guaranteed={"cpu": 9000, "memory": 36 * 2**30},
            max={"cpu": 12_000},
            namespaces=("search",),
            lendable={"memory": 4 * 2**30},
            **(NOBODY | {"take_within": Take.LOWER_PRIORITY}),
        ),
        "root.research.text": Queue(path="root.research.text", **NOBODY),
    }


def test_every_queue_tells_where_it_came_from() -> None:
    """By the name that people know, and its line."""
    sources = {path: (source.title, source.line) for path, source in read(DOCUMENT).sources.items()}
    assert sources == {
        "root.research": ("Cohort research", 9),
        "root.research.vision": ("ClusterQueue vision", 16),
        "root.research.text": ("ClusterQueue text", 35),
    }


def test_what_has_no_counterpart_is_said_with_its_line() -> None:
    """Of a queue by its field, of other objects by their kind."""
    has = "has no counterpart here. It is kept and written back unchanged."
    assert sorted(notes(DOCUMENT)) == [
        (4, "Objects of kind ResourceFlavor (1) have no counterpart here. They are kept and written back unchanged."),
        (19, f"namespaceSelector {has}"),
    ]


def test_an_unchanged_tree_gives_the_text_to_the_byte() -> None:
    """As a list in JSON as well."""
    as_json = '{\n    "kind": "List",\n    "items": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",\n'
    as_json += '      "metadata": {"name": "a"}, "spec": {}}]\n}'
    for text in (DOCUMENT, as_json):
        assert write(text, read(text).tree).text == text


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
def test_recorded_objects_come_back(recorded: Path) -> None:
    """Into their own text to the byte, and as a tree from a new one."""
    text = recorded.read_text(encoding="utf-8")
    shape = read(text).tree
    assert write(text, shape) == msgspec.structs.replace(write(text, shape), text=text, notes=())
    assert read(write("", shape).text).tree.queues == shape.queues


def test_only_what_changed_is_written() -> None:
    """Blanks, quotes and comments of everything else stay as they were typed."""
    shape = with_queue(
        read(DOCUMENT).tree, "root.research.vision", guaranteed=amounts({"cpu": 9, "memory": "40Gi"}), max={}
    )
    assert changed(DOCUMENT, shape) == [
        '-      - {name: cpu, nominalQuota: 9000m, borrowingLimit: "3"}',
        "+      - {name: cpu, nominalQuota: 9000m}",
        "-        nominalQuota:   36Gi    # half of a rack",
        "+        nominalQuota: 40Gi      # half of a rack",
    ]


def test_only_the_rules_that_changed_are_written() -> None:
    """What was not said is not said now, unless it has to be."""
    shape = with_queue(
        read(DOCUMENT).tree, "root.research.vision", lendable={"cpu": 500}, take_borrowing=True, take_threshold=-1
    )
    shape = with_queue(shape, "root.research", weight=WEIGHT_ONE // 2)
    assert changed(DOCUMENT, shape) == [
        '-  fairSharing: {weight: "2"}',
        '+  fairSharing: {weight: "500m"}',
        "+    borrowWithinCohort:",
        "+      policy: LowerPriority",
        "+      maxPriorityThreshold: -1",
        '-      - {name: cpu, nominalQuota: 9000m, borrowingLimit: "3"}',
        '+      - {name: cpu, nominalQuota: 9000m, borrowingLimit: "3", lendingLimit: 500m}',
        "-        lendingLimit: 4Gi",
    ]


def test_what_nobody_may_take_is_said_where_something_else_was() -> None:
    """Never stands in its place; so it does where our tree says nothing any more, which an annotation keeps."""
    shape = with_queue(read(DOCUMENT).tree, "root.research.vision", take_within=Take.NEVER)
    assert changed(DOCUMENT, shape) == [
        "-    withinClusterQueue: LowerPriority",
        "+    withinClusterQueue: Never",
    ]
    unsaid = with_queue(shape, "root.research.vision", take_within=None)
    written = write(DOCUMENT, unsaid)
    assert read(written.text).tree.queues == unsaid.queues
    assert "withinClusterQueue: Never" in written.text
    assert '{"take_within": null}' in written.text
    [note] = written.notes
    assert note.text.startswith("Leaf queues without preemption settings (1) preempt nothing in Kueue.")


def test_of_a_threshold_that_goes_the_rest_is_sent_first() -> None:
    """And then it is taken away alone, as others may answer for it."""
    rules = "preemption: {reclaimWithinCohort: %s, borrowWithinCohort: {policy: LowerPriority%s}}"
    head = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: a}, spec: {cohortName: c, %s}}"
    ((before,), (wanted,)) = (
        parse(KUEUE, head % rules % each).values()
        for each in [("Any", ", maxPriorityThreshold: 5"), ("LowerPriority", "")]
    )
    half = after_apply(KUEUE, before, wanted)
    assert half.body["spec"]["preemption"] == {
        "reclaimWithinCohort": "LowerPriority",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 5},
    }
    gone = {"spec": {"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": None}}}}
    assert (
        removal_patch(KUEUE, half, wanted),
        removal_patch(KUEUE, wanted, wanted),
        removal_patch(KUEUE, half, half),
    ) == (
        gone,
        {},
        {},
    )


def test_a_queue_without_a_cohort_has_nobody_to_lend_to() -> None:
    """Kueue refuses a lending limit there: an annotation keeps it."""
    shape = tree({"a": queue(2, max=2, fence=True, lendable={"cpu": 1000}, **NOBODY)})
    written = write("", shape)
    assert "lendingLimit" not in written.text
    assert [note.message.params["settings"] for note in written.notes] == ["lendable"]
    assert declared(read(written.text).tree) == declared(shape)


def test_a_moved_queue_only_names_another_cohort() -> None:
    """Names are of the whole cluster in Kueue: with the queue goes all that is kept of it, its LocalQueues too."""
    shape = read(DOCUMENT).tree
    queues = [
        msgspec.structs.replace(one, path=one.path.replace("research.vision", "vision"))
        for one in shape.queues.values()
    ]
    alone = {"preemption_policy": FENCED, "max": queues[2].guaranteed, "lendable": {}}
    moved = with_queue(QueueTree(queues), "root.vision", **alone)
    assert changed(DOCUMENT, moved)[0] == "-  cohort: research"
    assert read(write(DOCUMENT, moved).text).tree.queues == moved.queues


def test_a_queue_that_is_gone_takes_its_local_queues_along() -> None:
    """Nothing leads to what is not there."""
    shape = read(DOCUMENT).tree
    text = write(DOCUMENT, QueueTree(one for one in shape.queues.values() if one.name != "vision")).text
    assert "vision" not in text
    assert "LocalQueue" not in text
    assert "name: text" in text


def test_a_claim_is_a_local_queue() -> None:
    """The default one, which Kueue gives the jobs that name none; one that is given up goes."""
    shape = with_queue(read(DOCUMENT).tree, "root.research.vision", namespaces=("ads",))
    text = write(DOCUMENT, shape).text
    assert read(text).tree.queues == shape.queues
    assert "namespace: search" not in text
    assert "name: default\n  namespace: ads\nspec:\n  clusterQueue: vision" in text


def test_a_namespace_of_several_queues_is_claimed_by_its_default_one_alone() -> None:
    """Else by none: nothing tells its pods apart."""
    kind = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
    local = kind + "metadata: {{name: {}, namespace: n}}\nspec: {{clusterQueue: {}}}\n"
    both = cluster_queue("a") + cluster_queue("b") + local.format("one", "a")
    assert read(both + local.format("default", "b")).tree["root.b"].namespaces == ("n",)
    assert read(both + local.format("two", "b")).tree.leaf_by_namespace == {}


def test_several_flavors_of_a_resource_are_told_apart() -> None:
    """By names of their own: they are never summed up."""
    spot = "{name: spot, resources: [{name: cpu, nominalQuota: 2}]}"
    kept = "{name: kept, resources: [{name: cpu, nominalQuota: 1500m}]}"
    group = f"{{coveredResources: [cpu], flavors: [{spot}, {kept}]}}"
    text = cluster_queue("a", f"{{resourceGroups: [{group}], cohortName: x}}")
    shape = read(text).tree
    assert shape["root.x.a"].guaranteed == {"cpu@spot": 2000, "cpu@kept": 1500}
    raised = with_queue(shape, "root.x.a", guaranteed={"cpu@spot": 3000, "cpu@kept": 1500})
    assert read(write(text, raised).text).tree.queues == raised.queues
    fewer = with_queue(shape, "root.x.a", guaranteed={"cpu@spot": 3000})
    assert read(write(text, fewer).text).tree.queues == fewer.queues
    assert read(write("", shape).text).tree.queues == shape.queues


def test_a_cluster_queue_alone_can_borrow_from_nobody() -> None:
    """Its max is what it is guaranteed, and nobody reaches it."""
    text = cluster_queue("a", "{resourceGroups: [" + quota("{name: cpu, nominalQuota: 2}") + "]}")
    assert read(text).tree["root.a"] == Queue(
        path="root.a", guaranteed={"cpu": 2000}, max={"cpu": 2000}, preemption_policy=FENCED, **NOBODY
    )


def test_a_cohort_called_root_is_the_root() -> None:
    """Where it stands alone at the top; elsewhere it needs another name."""
    assert read(cluster_queue("a", "{cohortName: root}")).tree["root.a"].preemption_policy is PreemptionPolicy.DEFAULT
    [(line, said)] = errors(cluster_queue("a", "{cohortName: root}") + cluster_queue("b"))
    assert line == 5
    assert said.startswith("The name root is reserved for the root queue.")


def test_a_dot_in_a_name_is_said_with_its_line() -> None:
    """It separates queues here; the object keeps its name."""
    text = cluster_queue("team.a")
    assert notes(text) == [(4, "team.a is named team_a here, because a dot separates queue names.")]
    assert write(text, read(text).tree).text == text
    assert read(write("", tree({"team_a": queue()})).text).tree["root.team_a"]


@given(queue_trees())
@examples(20)
def test_any_tree_comes_back_from_new_objects(shape: QueueTree) -> None:
    """And from another tree's: what Kueue has no field for is kept in an annotation, and named."""
    for text in ("", DOCUMENT):
        written = write(text, shape)
        assert declared(read(written.text).tree) == declared(shape)
        assert {note.path for note in written.notes} <= set(shape.queues)


def test_names_that_kubernetes_does_not_take_are_kept_beside() -> None:
    """Two of one name in different places, upper case, and signs."""
    shape = tree({name: queue() for name in ("a.same", "b.same", "Big:One", "b.x_y")})
    text = write("", shape).text
    assert declared(read(text).tree) == declared(shape)
    for name in ("name: same", "name: b-same", "name: big-one", "name: x.y"):
        assert name in text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "contains no Kueue ClusterQueue or Cohort."),
        ("kind: [", 1, "This is not valid YAML"),
        ("- 1", 1, "An object must be a mapping with a kind."),
        (cluster_queue("a") + cluster_queue("a"), 9, "ClusterQueue a is defined twice."),
        (cluster_queue("a").replace("v1beta2", "v9"), 4, "Kueue API version 'v9' is not supported."),
        (cluster_queue("a" * 65), 4, "is not a valid queue name"),
        (cluster_queue("a", "{resourceGroups: 1}"), 5, "resourceGroups must be a list."),
        (cluster_queue("a", "{resourceGroups: [1]}"), 5, "A resource group must be a mapping."),
        (
            cluster_queue("a", "{resourceGroups: [" + quota("{name: cpu, nominalQuota: 12Gb}") + "]}"),
            5,
            "12Gb is not a valid amount. Did you mean 12Gi or 12G?",
        ),
        (cluster_queue("a", "{resourceGroups: [" + quota("{name: cpu}") + "]}"), 5, "nominalQuota is missing."),
        *(
            (
                cluster_queue("a", f"{{resourceGroups: [{{coveredResources: [null], flavors: [{FLAVOR % entry}]}}]}}"),
                5,
                "A quota must be a mapping whose name is listed in its group's coveredResources.",
            )
            for entry in ("{nominalQuota: 1}", "{name: null, nominalQuota: 1}", "1")
        ),
        (cluster_queue("a", "{fairSharing: {weight: 1e-10}}"), 5, "1e-10 is too precise. Use at most nine decimals."),
        (
            cluster_queue("a", "{fairSharing: {weight: much}}"),
            5,
            "much is not a valid weight. Enter a number such as 2 or 0.5.",
        ),
        (cluster_queue("a", "{fairSharing: 2}"), 5, "fairSharing must be a mapping."),
        (cluster_queue("a", "{preemption: Any}"), 5, "preemption must be a mapping."),
        (
            cluster_queue("a", "{preemption: {withinClusterQueue: Any}}"),
            5,
            "Any is not allowed. Allowed values: Never, ",
        ),
        (
            cluster_queue("a", "{preemption: {borrowWithinCohort: {maxPriorityThreshold: high}}}"),
            5,
            "high is not a 32-bit integer.",
        ),
        (
            cluster_queue("x").replace("ClusterQueue", "Cohort").replace("{}", "{parentName: x}"),
            4,
            "Cohort x is its own ancestor. Remove the cycle.",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_line(text: str, line: int | None, says: str) -> None:
    """In a sentence."""
    [(found, said), *_more] = errors(text)
    assert (found, says in said) == (line, True), said


WORDS = [
    "preemption",
    "borrowWithinCohort",
    "withinClusterQueue",
    "fairSharing",
    "weight",
    "resourceGroups",
    "flavors",
    "name",
    "coveredResources",
    "cohortName",
    "resources",
    "nominalQuota",
]


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=9) | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
        max_leaves=12,
    )
)
@examples(80)
def test_any_spec_is_read_or_refused(spec: object) -> None:
    """Nothing but ImportFailure comes out of a bad document, and what is read is written back as it was."""
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}
    text = msgspec.json.encode(body).decode()
    with suppress(ImportFailure):
        assert write(text, read(text).tree).text == text
