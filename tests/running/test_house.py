"""The checker of names and words finds what it is for, and what it finds keeps ``make lint`` from passing."""

import ast
from pathlib import Path

import pytest

from tests.house.folders import crowded
from tests.house.forms import read_by_hand
from tests.house.templates import LONGEST, long_lines
from tests.house.texts import catalogue_findings, document_findings
from tests.house.words import banned, fragments, shared_names

HERE = Path("engine/some.py")


def sentences(source: str) -> list[str]:
    """What is found in a file of this text."""
    tree = ast.parse(source)
    return [one.sentence for one in (*fragments(HERE, tree), *banned(HERE, source, tree))]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """They go."""', "is a fragment"),
        ('def f():\n    """The nodes that are free."""', "begins with no verb"),
        ('class A:\n    """one row per node and pod."""', "does not begin as a sentence"),
        ('def f():\n    """Return the nodes that are free"""', "does not end as a sentence"),
        ('def f():\n    """Return what was told of the nodes."""', "better report"),
        ("x = 1\n# held against the tree\n", "better compared with"),
        ('class A:\n    """One row per node."""\n    x: int\n    """So many of them."""', "better the number itself"),
    ],
)
def test_private_language_is_found(source: str, found: str) -> None:
    assert [sentence for sentence in sentences(source) if found in sentence]


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Return the nodes that are free."""',
        'class A:\n    """One row per node."""\n    x: int\n    """The number of pods."""',
        'def f():\n    """Return ``told`` as it was given."""',
        "x = 'held against'  # noqa: S105",
    ],
)
def test_plain_english_is_left_alone(source: str) -> None:
    assert sentences(source) == []


def test_a_class_name_occurs_once_unless_it_means_the_same_everywhere() -> None:
    trees = {Path(name): ast.parse("class Survey: pass\nclass _Own: pass") for name in ("a.py", "b.py")}
    assert [(str(one.path), one.sentence) for one in shared_names(trees, {})] == [
        ("a.py", "class Survey is also in b.py"),
        ("b.py", "class Survey is also in a.py"),
        ("a.py", "class _Own is also in b.py"),
        ("b.py", "class _Own is also in a.py"),
    ]
    assert list(shared_names(trees, {"Survey": "the same", "_Own": "the same"})) == []


def test_a_folder_of_sixteen_modules_is_found(tmp_path: Path) -> None:
    """Its ``__init__.py`` is no module of its own, and migrations grow with time."""
    for folder, count in (("full", 15), ("crowded", 16), ("migrations", 40)):
        (tmp_path / folder).mkdir()
        for name in ("__init__", *(f"module_{number}" for number in range(count))):
            (tmp_path / folder / f"{name}.py").touch()
    assert [finding.path.name for finding in crowded([tmp_path])] == ["crowded"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('x = request.POST["name"]', True),
        ('x = request.POST.get("name", "")', True),
        ("x = request.POST.dict()", True),
        ('x = "name" in request.POST', True),
        ('x = request.FILES.get("file")', True),
        ("for name in request.POST: pass", True),
        ("form = NameForm(request.POST, request.FILES)", False),
        ('x = request.GET.get("name")', False),
        ('x = request.POST.get("name", "")  # by hand: it names the form', False),
    ],
)
def test_a_page_that_reads_by_hand_what_is_sent_is_found(line: str, found: bool) -> None:
    """Unless a comment says why; other modules have no requests."""
    for page in (Path("scheduler_admin/queues/pages/views.py"), Path("scheduler_admin/demo/pages.py")):
        assert bool(list(read_by_hand(page, line, ast.parse(line)))) is found
    assert not list(read_by_hand(Path("scheduler_admin/queues/forms.py"), line, ast.parse(line)))


def test_a_template_line_that_is_too_long_is_found(tmp_path: Path) -> None:
    """Pages and pictures alike."""
    for name, length in (("page.html", LONGEST), ("long.html", LONGEST + 1), ("picture.svg", LONGEST + 1)):
        (tmp_path / name).write_text(f"short\n{'x' * length}\n")
    assert [(one.path.name, one.line) for one in long_lines(tmp_path)] == [("long.html", 2), ("picture.svg", 2)]


LONG = f"This sentence goes {'on and ' * 14}ends."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The asker is below its guarantee.", "write pending pod"),
        ("Refused by law 4.", "name the rule itself"),
        ("No pod may go for it.", "write can be preempted"),
        (LONG, "a sentence of"),
        ("| what | who |\n| --- | --- |\n| an interlock | x |\n", "write safeguard"),
    ],
)
def test_a_document_that_is_hard_to_read_is_found(tmp_path: Path, text: str, found: str) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"# Title\n\n{text}\n")
    assert [one for one in document_findings(document) if found in one.sentence]


@pytest.mark.parametrize(
    "text",
    [
        "A pending pod is evicted.",
        "`laws` is now `safety_checks`.",
        f"```\n{LONG}\n```",
        "- one short item\n- another short item\n" * 10,
        "See [the page](operations/asks-may-wait-here-for-a-very-long-time-and-so-on.md).",
    ],
)
def test_a_plain_document_is_left_alone(tmp_path: Path, text: str) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"# Title\n\n{text}\n")
    assert list(document_findings(document)) == []


@pytest.mark.parametrize(
    ("english", "chinese", "found"),
    [
        ("The pod waits.", "该 Pod 在等待.", "full-width punctuation"),
        ("The pod waits, as others do.", "该 Pod 在等待, 其他 Pod 也是。", "full-width punctuation"),
        ("its guarantee", "保障额", "write 保证量"),
        ("The asker waits.", "该 Pod 在等待。", "write pending pod"),
        ("%(asker)s waits.", "%(asker)s 在等待。", ""),
    ],
)
def test_a_text_of_a_page_that_is_hard_to_read_is_found(tmp_path: Path, english: str, chinese: str, found: str) -> None:
    catalogue = tmp_path / "django.po"
    catalogue.write_text(
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "{english}"\nmsgstr "{chinese}"\n'
    )
    sentences = [one.sentence for one in catalogue_findings(catalogue)]
    assert any(found in one for one in sentences) if found else sentences == []
