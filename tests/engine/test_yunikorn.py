"""queues.yaml is read with every remark it deserves, and written back without losing anything."""

import re
from textwrap import dedent

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.formats.yunikorn import read, write
from engine.model.notes import ImportFailure, Severity
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, Queue, QueueTree, Settings, Take, TreeError
from tests.builders import queue, tree
from tests.engine.strategies import growing_trees
from tests.properties import examples

DOCUMENT = dedent(
    """\
    # who owns this file
    partitions:
      - name: default
        placementrules:
          - name: tag
            value: namespace
            create: true
        nodesortpolicy:
          type: binpacking
        queues:
          - name: root
            submitacl: '*'
            queues:
              - name: tenant  # the big one
                parent: true
                properties:
                  preemption.policy: Fence
                  application.sort.policy: fifo
                childtemplate:
                  resources:
                    guaranteed:
                      vcore: 1
                resources:
                  guaranteed:
                    vcore: 10000m
                    memory: 32Gi
                queues:
                  - name: a
                    maxapplications: 7
                    limits:
                      - limit: everyone
                        users: ['*']
                        maxapplications: 2
                    properties:
                      preemption.delay: 1m30s
                      priority.policy: fence
                      priority.offset: -5
                    resources:
                      guaranteed:
                        vcore: 10
                        nvidia.com/gpu: 2
                      max:
                        memory: 1500M
              - name: off
                properties:
                  preemption.policy: disabled
      - name: gpu
        queues:
          - name: root
    """
)
KEPT = (
    "# who owns this file",
    "placementrules",
    "binpacking",
    "submitacl: '*'",
    "# the big one",
    "maxapplications: 7",
    "application.sort.policy: fifo",
    "childtemplate",
    "users: ['*']",
    "name: gpu",
    "preemption.policy: Fence",
    "vcore: 10000m",
)


def same(one: QueueTree, other: QueueTree) -> bool:
    """Whether two trees have the same queues and rules."""
    return (one.queues, one.placement) == (other.queues, other.placement)


def errors(document: str) -> list[str]:
    """The errors of a document that is refused, as shown to people."""
    with pytest.raises(ImportFailure) as failure:
        read(document)
    return [str(note) for note in failure.value.notes if note.severity is Severity.ERROR]


def warnings(document: str) -> list[str]:
    """The warnings of a document that is accepted."""
    return [str(note) for note in read(document).notes if note.severity is Severity.WARNING]


def one_queue(body: str, name: str = "a") -> str:
    """A document of one leaf with these fields."""
    return f"partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: {name}\n" + "".join(
        f"      {line}\n" for line in body.splitlines()
    )


def test_every_field_of_ours_is_read() -> None:
    """Cores in thousandths whether written 10 or 10000m, delays in milliseconds, policies in any case."""
    shape = read(DOCUMENT).tree
    assert shape["root.tenant"] == Queue(
        path="root.tenant",
        guaranteed={"cpu": 10_000, "memory": 32 * 2**30},
        preemption_policy=PreemptionPolicy.FENCE,
        parent_declared=True,
        template=Settings(guaranteed={"cpu": 1_000}),
    )
    assert shape["root.tenant.a"] == Queue(
        path="root.tenant.a",
        guaranteed={"cpu": 10_000, "nvidia.com/gpu": 2},
        max={"memory": 1_500_000_000},
        delay_ms=90_000,
        priority_policy=PriorityPolicy.FENCE,
        priority_offset=-5,
    )
    assert shape.placement == (Rule(name=RuleName.TAG, value="namespace", create=True),)
    assert shape.disabled_by("root.off") == "root.off"
    assert list(shape.walk()) == ["root", "root.tenant", "root.tenant.a", "root.off"]


def test_what_has_no_counterpart_is_said_with_its_line() -> None:
    """Kept, and named where it stands."""
    notes = {(note.path, note.line, note.message.params.get("field")) for note in read(DOCUMENT).notes}
    assert ("", 8, "nodesortpolicy") in notes
    assert ("root.tenant.a", 29, "maxapplications") in notes
    assert ("root.tenant", 18, "application.sort.policy") in notes
    assert ("root.tenant.a", 30, "limits") in notes
    assert all(note.severity is Severity.INFO for note in read(DOCUMENT).notes)


def test_writing_an_unchanged_tree_changes_nothing() -> None:
    """Not an amount, not a comment, not the order."""
    written = write(DOCUMENT, read(DOCUMENT).tree)
    assert same(read(written).tree, read(DOCUMENT).tree)
    assert all(kept in written for kept in KEPT)
    assert write(written, read(written).tree) == written


def test_queues_stay_in_their_places() -> None:
    """The canonical tree knows no order of siblings: what was typed keeps its own, and its quotes."""
    typed = """\
partitions:
  - name: default
    queues:
      - name: b  # first
        submitacl: "*"
      - name: a
"""
    tree = read(typed).tree
    assert write(typed, decode_tree(encode_tree(tree))) == typed
    more = QueueTree([*decode_tree(encode_tree(tree)).queues.values(), Queue(path="root.A0")])
    assert write(typed, more) == f"{typed}      - name: A0\n"


def test_only_what_changed_is_written() -> None:
    """One guarantee raised, a queue added, another removed: all else stays as it was typed."""
    before = read(DOCUMENT).tree
    queues = {path: one for path, one in before.queues.items() if path != "root.off"}
    raised = msgspec.structs.replace(
        queues["root.tenant"],
        guaranteed={"cpu": 12_500, "memory": 32 * 2**30},
        preemption_policy=PreemptionPolicy.DEFAULT,
    )
    queues |= {"root.tenant": raised, "root.new": Queue(path="root.new", delay_ms=1500)}
    written = write(DOCUMENT, QueueTree(queues.values(), before.placement))
    again = read(written).tree
    assert again.queues == queues
    assert "vcore: 12500m" in written
    assert "preemption.delay: 1500ms" in written
    assert "name: off" not in written
    assert all(kept in written for kept in KEPT[:9] if "Fence" not in kept)


def test_a_parsed_document_is_written_like_its_text() -> None:
    """And the caller's own mapping stays as it was."""
    limits = [{"users": ["*"], "maxapplications": 1}]
    parsed = {"partitions": [{"name": "default", "limits": limits, "queues": [{"name": "a"}, {"name": "b"}]}]}
    imported = read(parsed)
    assert all(note.line is None for note in imported.notes)
    shape = QueueTree([*imported.tree.queues.values(), Queue(path="root.c")])
    assert read(write(parsed, shape)).tree.queues == shape.queues
    assert "limits" in write(parsed, shape)
    assert len(parsed["partitions"][0]["queues"]) == 2


def test_several_top_queues_are_put_under_a_root() -> None:
    """As YuniKorn does; they stay at the top unless the root says something."""
    document = "partitions:\n- name: default\n  queues:\n  - name: a\n  - name: b\n"
    shape = read(document).tree
    assert list(shape.walk()) == ["root", "root.a", "root.b"]
    assert "root" not in write(document, shape)
    spoken = QueueTree([Queue(path="root", priority_offset=3, parent_declared=True), *list(shape.queues.values())[1:]])
    assert read(write(document, spoken)).tree.queues == spoken.queues


@given(shape=growing_trees())
@examples(60)
def test_any_tree_comes_back_from_a_new_document(shape: QueueTree) -> None:
    """Written from nothing, into another tree's document, and in canonical form."""
    assert same(read(write(None, shape)).tree, shape)
    assert same(read(write(DOCUMENT, shape)).tree, shape)
    assert same(decode_tree(encode_tree(shape)), shape)


def test_a_tree_without_rules_and_templates_has_the_bytes_that_it_always_had() -> None:
    """So that revisions from before are what they were, to the byte."""
    assert encode_tree(tree({"a": queue(2)})) == (
        b'{"form":1,"queues":[{"path":"root"},{"guaranteed":{"cpu":2000},"path":"root.a"}]}'
    )
    ruled = QueueTree([Queue(path="root")], [Rule(name=RuleName.USER)])
    assert encode_tree(ruled) == b'{"form":2,"placement":[{"name":"user"}],"queues":[{"path":"root"}]}'


def test_rules_are_written_only_where_they_changed() -> None:
    """As they were typed else; taken away with the last of them."""
    before = read(DOCUMENT).tree
    more = [*before.placement, Rule(name=RuleName.FIXED, value="root.default")]
    written = write(DOCUMENT, QueueTree(before.queues.values(), more))
    assert read(written).tree.placement == tuple(more)
    assert "placementrules" not in write(DOCUMENT, QueueTree(before.queues.values()))


def test_a_rule_that_yunikorn_refuses_is_an_error_with_its_line() -> None:
    """Its names are not looked at by case."""
    rules = "partitions:\n- name: default\n  placementrules:\n  - name: {name}\n    create: true\n  queues: []\n"
    assert read(rules.format(name="User")).tree.placement == (Rule(name=RuleName.USER, create=True),)
    assert errors(rules.format(name="queue")) == [
        "line 4: 'queue' is not allowed. Allowed values: provided, user, tag, fixed."
    ]


@pytest.mark.parametrize("said", ["{}", "{resources: {}}", "{properties: {}}", "{properties: {preemption.delay: ''}}"])
def test_a_template_that_says_nothing_is_none(said: str) -> None:
    """The template of the queue above holds then. Source: FromConf of YuniKorn's templates."""
    assert read(one_queue(f"parent: true\nchildtemplate: {said}")).tree["root.a"].template is None


def test_a_template_that_says_what_is_not_read_here_is_one() -> None:
    """It stands before that of the queue above all the same, and is kept as it is typed."""
    document = one_queue("parent: true\nchildtemplate:\n  maxapplications: 3")
    shape = read(document).tree
    assert shape["root.a"].template == Settings()
    assert "maxapplications: 3" in write(document, shape)
    assert [note.message.params["field"] for note in read(document).notes] == ["maxapplications"]


@pytest.mark.parametrize(
    "body", ["childtemplate: 3", "childtemplate:\n  resources: [1]", "childtemplate:\n  resources:\n    max: 7"]
)
def test_a_template_that_is_no_mapping_is_an_error(body: str) -> None:
    """With the queue that it is of."""
    (error,) = errors(one_queue(body))
    assert "must be a mapping" in error


@given(text=st.text(max_size=60) | st.text("{}[]:-&*!|>\n\t ab01", max_size=80))
@examples(200)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but ImportFailure, with a sentence, comes out of a bad document."""
    for document in (text, one_queue(text)):
        outcome = ""
        try:
            outcome = read(document).tree.root
        except ImportFailure as failure:
            outcome = str(failure)
        assert outcome


def test_fields_that_only_we_have_survive() -> None:
    """They are written as properties, which YuniKorn passes over."""
    shape = tree({"a": queue(namespaces=("x", "y"), evict_uncontrolled=True)})
    assert read(write(None, shape)).tree.queues == shape.queues


@pytest.mark.parametrize(
    ("value", "suggested"),
    [
        ("128Gb", "Did you mean 128Gi or 128G?"),
        ("128GB", "Did you mean 128Gi or 128G?"),
        ("1gib", "Did you mean 1Gi?"),
        ("2K", "Did you mean 2Ki or 2k?"),
        ("'1,5'", "Did you mean 1.5?"),
    ],
)
def test_a_mistyped_unit_is_named_with_its_line_and_what_was_meant(value: str, suggested: str) -> None:
    """The person who typed it can put it right at once."""
    (error,) = errors(one_queue(f"resources:\n  guaranteed:\n    memory: {value}"))
    assert error.startswith("line 9 root.a: ")
    assert error.endswith(f"is not a valid amount. {suggested}")


@pytest.mark.parametrize("value", ["lots", "true", "0x1G", "[1]"])
def test_what_is_no_near_miss_gets_no_suggestion(value: str) -> None:
    """Better none than a wild one."""
    (error,) = errors(one_queue(f"resources:\n  max:\n    vcore: {value}"))
    assert error.endswith("is not a valid amount.")


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("", "A queues.yaml must begin with partitions."),
        ("- a", "A queues.yaml must begin with partitions."),
        ("partitions: []", "A queues.yaml must begin with partitions."),
        ("partitions: [{name: default, queues: 3}]", "line 1: queues must be a list."),
        ("a: [", "line 1: This is not valid YAML"),
        ("? a: {b: 1}\n: 2", "This is not valid YAML: it has a key or a value that can't be read."),
        ("a: !!int", "This is not valid YAML: it has a key or a value that can't be read."),
        (one_queue("resources: {max: {g pu: 1}}"), "line 7 root.a: 'g pu' is not a valid resource name."),
        (
            one_queue("properties: {scheduler-admin.io/namespaces: 'red, Blue'}"),
            "line 7 root.a: 'Blue' is not a valid namespace name.",
        ),
        (one_queue("queues:\n- b"), "root.a: A queue must be a mapping with a name."),
        (one_queue("queues:\n- name: b\n- name: B"), "line 9 root.a: Queue B is defined twice."),
        (one_queue("queues: 5"), "line 7 root.a: queues must be a list."),
        (one_queue("", name="a.b"), "line 6 root: 'a.b' is not a valid queue name"),
        (one_queue("", name="root"), "line 6 root: root must be the only queue at the top."),
        (one_queue("resources: 5"), "line 7 root.a: resources must be a mapping."),
        (one_queue("resources: {max: {memory: -1}}"), "line 7 root.a: -1 is less than zero."),
        (one_queue("resources: {max: {memory: 9E}}"), "line 7 root.a: 9E is"),
        (one_queue("resources: {max: {vcore: 1, cpu: 1}}"), "line 7 root.a: max sets cpu twice."),
        ("[" * 5000, "Brackets are nested more than 100 levels deep."),
    ],
)
def test_errors_name_the_line_and_the_queue(document: str, sentence: str) -> None:
    """In a sentence, and nothing is imported."""
    if "9E" in document:
        document = document.replace("9E", "10E")
        sentence = sentence.replace("9E", "10E")
    assert any(sentence in error for error in errors(document)), errors(document)


def test_all_errors_are_told_at_once() -> None:
    """Nobody has to find them one upload at a time."""
    document = one_queue("resources: {max: {vcore: x, memory: y}}\nqueues:\n- {name: a.b}")
    assert len(errors(document)) == 3


def test_a_document_that_multiplies_itself_is_refused() -> None:
    """YAML's aliases make a few lines into very many queues."""
    lines = ["partitions:", "- name: default", "  queues:", "  - name: root", "    queues: &l0", "    - name: a"]
    parts = ["q0: &q0 [{name: a}, {name: b}]"]
    parts += [f"q{i}: &q{i} [{{name: a, queues: *q{i - 1}}}, {{name: b, queues: *q{i - 1}}}]" for i in range(1, 30)]
    bomb = "\n".join([*parts, *lines[:3], "  - name: root", "    queues: *q29"])
    assert "more than 1000000 values" in errors(bomb)[0]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("properties: {preemption.delay: bogus}", "line 7 root.a: bogus is not a duration above zero"),
        ("properties: {preemption.delay: 0s}", "line 7 root.a: 0s is not a duration above zero"),
        ("properties: {preemption.delay: -5s}", "line 7 root.a: -5s is not a duration above zero"),
        (
            "properties: {preemption.policy: fenced}",
            "line 7 root.a: fenced is not a valid preemption.policy, so default applies.",
        ),
        ("properties: {priority.policy: x}", "line 7 root.a: x is not a valid priority.policy, so default applies."),
        ("properties: {priority.offset: high}", "line 7 root.a: high is not a valid priority.offset"),
        ("resources: {max: {cpu: 1}}", "line 7 root.a: YuniKorn’s name for CPU is vcore."),
    ],
)
def test_what_does_not_do_what_it_seems_to_is_a_warning(body: str, sentence: str) -> None:
    """Imported all the same, with the default where one applies."""
    (warning,) = warnings(one_queue(body))
    assert warning.startswith(sentence)


def test_an_unreadable_delay_stays_in_the_file() -> None:
    """What the default stands in for is not overwritten with it."""
    document = one_queue("properties: {preemption.delay: bogus}")
    assert "bogus" in write(document, read(document).tree)


def test_a_tree_whose_root_has_another_name_is_not_written() -> None:
    """YuniKorn knows but one name for it."""
    with pytest.raises(ValueError, match="this tree's is top"):
        write(None, QueueTree([Queue(path="top")]))


def test_the_canonical_form_does_not_depend_on_order() -> None:
    """The same queues in another order are the same bytes; a changed amount is not."""
    queues = [Queue(path="root"), Queue(path="root.b", max={"cpu": 1, "a": 2}), Queue(path="root.a-b")]
    other = [queues[0], queues[2], Queue(path="root.b", max={"a": 2, "cpu": 1})]
    assert encode_tree(QueueTree(queues)) == encode_tree(QueueTree(other))
    assert encode_tree(QueueTree(queues)) != encode_tree(QueueTree([*queues[:2]]))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", ValueError),
        (b'{"form":9,"queues":[]}', ValueError),
        (b'{"form":1,"queues":[]}', TreeError),
        (b'{"form":1,"queues":[],"more":1}', ValueError),
    ],
)
def test_other_bytes_are_no_tree(data: bytes, error: type[Exception]) -> None:
    """Read nothing rather than something else."""
    with pytest.raises(error):
        decode_tree(data)


def test_how_a_queue_lends_and_takes_is_kept_in_a_property_of_ours() -> None:
    """YuniKorn passes over it; what is wrong in it is said at its line."""
    shape = tree({"a": queue(weight=0, lendable={"cpu": 500}, take_reclaim=Take.ANY, take_borrowing=False)})
    text = write(None, shape)
    said = '{"lendable": {"cpu": "500m"}, "take_borrowing": false, "take_reclaim": "Any", "weight": "0"}'
    assert f"scheduler-admin.io/lending: '{said}'" in text
    assert read(text).tree.queues == shape.queues
    for wrong, sentence in (
        ("[]", "scheduler-admin.io/lending must contain a JSON object."),
        ('{"weight": -1}', "-1 is less than zero."),
        ('{"weigh": 1}', "weigh is not a known setting."),
    ):
        with pytest.raises(ImportFailure, match=re.escape(sentence)) as refused:
            read(text.replace(said, wrong))
        assert (
            text.splitlines()[(refused.value.notes[0].line or 0) - 1].strip().startswith("scheduler-admin.io/lending")
        )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("guaranteed: {vcore: 1}", "guaranteed belongs inside resources. YuniKorn rejects the document."),
        (
            "childTemplate: {}",
            "YuniKorn has no field childTemplate here and rejects the document. Did you mean childtemplate?",
        ),
        ("weight: 2", "YuniKorn has no field weight here and rejects the document."),
        ("resources: {minimum: {vcore: 1}}", "YuniKorn has no field minimum here and rejects the document."),
        ("limits: [{limit: x, maxresource: {vcore: 1}}]", "Did you mean maxresources?"),
        ("resources: {guaranteed: {vcore: 0.5}}", "0.5 is not a valid YuniKorn amount"),
        ("resources: {guaranteed: {vcore: 1e3}}", "1000.0 is not a valid YuniKorn amount"),
        ("resources: {max: {memory: 100m}}", "100m is not a valid YuniKorn amount"),
    ],
)
def test_what_yunikorn_itself_refuses_is_an_error_at_its_line(settings: str, sentence: str) -> None:
    """It decodes strictly: the whole document would have no effect."""
    with pytest.raises(ImportFailure) as failed:
        read(one_queue(settings))
    (note,) = failed.value.notes
    assert sentence in note.text
    assert note.line == 7


@pytest.mark.parametrize(("amount", "expected"), [("5 Gi", 5 * 2**30), ("5  G", 5 * 10**9)])
def test_what_yunikorn_accepts_is_accepted(amount: str, expected: int) -> None:
    """Blanks before a unit."""
    queue = read(one_queue(f"resources: {{guaranteed: {{memory: {amount}}}}}")).tree["root.a"]
    assert queue.guaranteed == {"memory": expected}


def test_a_document_that_is_no_text_is_no_ones_configuration() -> None:
    """A recorded case's tree may say what YuniKorn would not take."""
    queues = [{"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"vcore": "0.5"}}}]}]
    assert read({"partitions": [{"name": "default", "queues": queues}]}).tree["root.a"].guaranteed == {"cpu": 500}
