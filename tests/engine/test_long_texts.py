"""Documents of very many queues: they fit, and a change of one queue changes its lines alone."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import registry
from engine.formats.registry import LARGEST, Format
from engine.formats.yaml import edited_text
from engine.formats.yaml.documents import MOST_NOTES, MOST_VALUES, dump, load, to_commented
from engine.formats.yaml.edited_text import EditedText
from engine.formats.yaml.emitter import emit
from engine.formats.yaml.object_list import MOST_OBJECTS
from engine.model.notes import MOST_QUEUES, ImportFailure
from engine.model.queue_tree import Queue, QueueTree
from tests.fuzz.parsers import DOCUMENTS
from tests.large_documents import documents
from tests.properties import examples

SUPPORTED = 20_000
"""Queues of the largest tree that everything is tried with."""
BLOCKS = 1_001
"""Queues of a tenant in the documents."""
LARGE = documents(BLOCKS)


def changed(tree: QueueTree) -> tuple[QueueTree, str, str]:
    """A tree with one leaf changed, one removed and one added; the paths of the first two."""
    leaves = [path for path in tree.walk() if tree.is_leaf(path)]
    first, second = leaves[5], leaves[7]
    queues = {path: queue for path, queue in tree.queues.items() if path != second}
    queues[first] = msgspec.structs.replace(tree[first], guaranteed={**tree[first].guaranteed, "cpu": 3000})
    added = Queue(path=f"{tree[first].parent}.added", guaranteed={"cpu": 1000})
    return QueueTree([*queues.values(), added]), first, second


def differing(before: str, after: str) -> int:
    """How many lines a text has lost and got."""
    lines, others = Counter(before.splitlines()), Counter(after.splitlines())
    return (lines - others).total() + (others - lines).total()


@pytest.mark.parametrize("form", Format)
class TestManyQueues:
    """In every format."""

    def test_a_tree_of_the_largest_size_fits(self, form: Format) -> None:
        """In bytes, values, objects and notes, with room for more than is supported."""
        text = LARGE[form]
        imported = registry.read(text, form)
        assert len(imported.tree.queues) == BLOCKS + 1
        share = BLOCKS / (SUPPORTED * 1.2)
        assert len(text) < LARGEST * share
        assert len(imported.notes) < MOST_NOTES * share
        assert text.count("\n---") < MOST_OBJECTS * share
        assert text.count(":") < MOST_VALUES * share
        assert SUPPORTED * 1.2 < MOST_QUEUES

    def test_what_is_not_changed_stays_to_the_byte(self, form: Format) -> None:
        assert registry.write(form, LARGE[form], registry.read(LARGE[form]).tree).text == LARGE[form]

    def test_only_the_lines_of_changed_queues_change(self, form: Format) -> None:
        text = LARGE[form].replace("\n", "  # as typed\n", 40)
        tree, _first, _second = changed(registry.read(text).tree)
        written = registry.write(form, text, tree).text
        assert registry.read(written).tree.queues == tree.queues
        assert written.count("# as typed") >= 39
        assert differing(text, written) < 60

    def test_a_new_document_says_the_same(self, form: Format) -> None:
        tree = registry.read(LARGE[form]).tree
        assert registry.read(registry.write(form, "", tree).text, form).tree.queues == tree.queues


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_that_people_keep_are_changed_line_by_line_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they hold beside the queues stays."""
    monkeypatch.setattr(edited_text, "LONGEST_ODD", 0)
    text = DOCUMENTS[name]
    form = registry.detect(text)
    if form is None:
        return
    tree = registry.read(text, form).tree
    assert registry.write(form, text, tree).text == text
    queues = [msgspec.structs.replace(queue, delay_ms=12_000) for queue in tree.queues.values()]
    wanted = QueueTree(queues, tree.placement, tree.capacity)
    assert registry.read(registry.write(form, text, wanted).text, form).tree.queues == wanted.queues


def rewritten(text: str, monkeypatch: pytest.MonkeyPatch, **values: Any) -> str:
    """A long text with other values at the top of its only document."""
    monkeypatch.setattr(edited_text, "LONGEST_ODD", 0)
    edited = EditedText(text)
    edited.documents[0].update(values)
    return edited.written(edited.documents)


def test_a_value_keeps_its_quotes_and_its_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# above\na: '1'   # one\nb: x\nc:\n- 1\n"
    assert rewritten(text, monkeypatch, a=2) == text.replace("'1'", "'2'")
    assert rewritten(text, monkeypatch, b="yes: no") == text.replace("b: x", "b: 'yes: no'")


@pytest.mark.parametrize("text", ["{a: 1,\n b: [1, 2]}\n", "a: 1\nb: {c: 1,\n  d: 2}\n", "? a\n: 1\n", "--- {a: 1}\n"])
def test_what_can_not_be_divided_is_written_anew(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (before,) = load(text)
    assert load(rewritten(text, monkeypatch, a=2, b=[3])) == [{**before, "a": 2, "b": [3]}]


def test_json_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rewritten('{\n  "a": 1\n}\n', monkeypatch, a=2) == '{\n  "a": 2\n}\n'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=3))
@examples(100)
def test_what_is_emitted_is_read_again(value: dict[str, Any]) -> None:
    assert load(emit([value])) == [value]


AMOUNTS = ["4", "16Gi", "1500m", "30s", "1e3", "0x1F"]
WORDS = ["a", "on", "true", "null", "-", "é", "long-name.x", "a: b", "a #b", " a", "", "two words"]


@pytest.mark.parametrize("word", [*AMOUNTS, *WORDS])
def test_scalars_are_written_as_ruamel_writes_them(word: str) -> None:
    value = {"key": word, "list": [word, {word or "empty": 1}], "none": None, "number": 7, "no": [], "nothing": {}}
    assert emit([value, value]) == dump([to_commented(value), to_commented(value)])


def test_a_text_of_lines_stands_as_it_is() -> None:
    text = "partitions:\n  - name: default\n\n    queues: []\n"
    written = emit([{"queues.yaml": text}])
    assert written == "queues.yaml: |\n  partitions:\n    - name: default\n\n      queues: []\n"
    assert load(written) == [{"queues.yaml": text}]


def test_a_document_that_is_full_of_mistakes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.formats.yaml.documents.MOST_NOTES", 100)
    fields = "".join(f"    guarantee{number}: 1\n" for number in range(101))
    with pytest.raises(ImportFailure, match="more than 100 unknown fields"):
        registry.read(f"partitions:\n- name: default\n  queues:\n  - name: a\n{fields}")
