"""Finds private language: docstrings that are no sentences, banned words, class names with two meanings."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text().split())
"""Verbs with which the docstring of a function may begin, in the imperative."""

BANNED: Mapping[str, str] = {
    r"told|telling": "report, event, message, trace or reason: say which",
    r"held against": "compared with",
    r"goes by|going by": "uses, follows",
    r"so[- ]many(?:th)?": "the number itself",
    r"likewise": "the sentence itself",
    r"askers?": "preemptor",
    r"hindsight": "replay",
    r"comes? about|came about": "happens",
    r"the long way round": "the slow way",
    r"laws?": "invariant",
    r"gone on with": "continued",
    r"take[ns]? down|took down": "record",
    r"sworn|betwixt|thereof|whereupon|therein": "plain words",
    r"is another one than": "differs from",
    r"stands? (?:for|where|how)": "means, is",
    r"ought": "should",
    r"(?:what|who|which) (?:there|it) (?:is|was) (?:of|to)": "the noun itself",
}
"""Words of a private language -> what to write instead."""
_BANNED = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): instead for word, instead in BANNED.items()}

FRAGMENT_WORDS = 3
"""A first line of fewer words is a fragment."""


class Finding(NamedTuple):
    """Something to change, with the place where it is."""

    path: Path
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


def docstrings(tree: ast.Module) -> Iterator[tuple[Documented, str, int]]:
    """Yield every documented module, class and function with its docstring and the line at which that begins."""
    for node in ast.walk(tree):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            yield node, text, node.body[0].lineno


def fragments(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Yield the docstrings whose first line is no sentence.

    A function's begins with a verb in the imperative; every first line begins with a capital letter or a name, ends as
    a sentence does, and has at least three words.
    """
    for node, text, line in docstrings(tree):
        first = text.split("\n\n")[0].strip()
        words = re.findall(r"[\w`'.-]+", first)
        if not re.search(r"[.?!:]$|\.\)$|::$", first):
            yield Finding(path, line, f"the docstring's first paragraph does not end as a sentence: {first[:60]!r}")
        if len(words) < FRAGMENT_WORDS:
            yield Finding(path, line, f"the docstring is a fragment: {first!r}")
        elif not re.match(r"[A-Z`\"'/(]|\d", first):
            yield Finding(path, line, f"the docstring does not begin as a sentence: {first[:60]!r}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and words[0].lower() not in VERBS:
            yield Finding(path, line, f"the docstring of {node.name} begins with no verb: {first[:60]!r}")


def banned(path: Path, source: str, tree: ast.Module) -> Iterator[Finding]:
    """Yield the banned words in docstrings, in strings below a name, and in comments."""
    texts = [(line, text) for _, text, line in docstrings(tree)]
    texts.extend(
        (node.lineno, node.value.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    for number, line in enumerate(source.splitlines(), 1):
        if comment := re.search(r"(?:^|\s)# (?!noqa|type:)(.*)", line):
            texts.append((number, comment[1]))
    for line, text in sorted(set(texts)):
        prose = re.sub(r"``[^`]*``", "", text)
        for pattern, instead in _BANNED.items():
            if found := pattern.search(prose):
                yield Finding(path, line, f"{found[0]!r}: better {instead}")


def shared_names(trees: Mapping[Path, ast.Module], allowed: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the classes that share a name with another one; ``allowed`` says of a name why it may be shared."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append((path, node.lineno))
    for name, found in sorted(places.items()):
        if len(found) > 1 and name not in allowed:
            for path, line in found:
                others = ", ".join(str(one) for one, _ in found if one != path)
                yield Finding(path, line, f"class {name} is also in {others}")
