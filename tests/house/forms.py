"""Finds pages that read what is sent by hand, where a form is to check it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.words import Finding

READS = frozenset({"get", "getlist", "dict", "lists", "items", "values", "keys", "urlencode", "copy", "pop"})
"""Methods of a QueryDict that read it; a page hands it to a form whole."""
REASON = "# by hand:"
"""What the comment begins with that says why a page reads it all the same."""


def read_by_hand(path: Path, source: str, tree: ast.Module) -> Iterator[Finding]:
    """Yield each place where something of ``request.POST`` or ``request.FILES`` is read without a form."""
    if not _is_page(path):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt) and _reads(node) and REASON not in lines[node.lineno - 1]:
            yield Finding(path, node.lineno, f"reads what is sent by hand: use a form, or say why ({REASON} ...)")


def _is_page(path: Path) -> bool:
    return path.name == "pages.py" or "pages" in path.parts or path.parts[-2:-1] == ("site",)


def _reads(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=ast.Attribute(attr="POST" | "FILES")):
            return True
        case ast.Compare(comparators=[*_, ast.Attribute(attr="POST" | "FILES")]):
            return True
        case ast.Attribute(value=ast.Attribute(attr="POST" | "FILES"), attr=method):
            return method in READS
        case ast.For(iter=ast.Attribute(attr="POST" | "FILES")):
            return True
    return False
