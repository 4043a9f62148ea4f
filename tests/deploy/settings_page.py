"""docs/settings.md, made of the sources: ``python -m tests.deploy.settings_page`` writes it anew.

What a variable is for stands in the comment where settings.py reads it; its default is the code's own.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

BASE = Path(__file__).resolve().parents[2]
SOURCE = BASE / "scheduler_admin" / "settings.py"
PAGE = BASE / "docs" / "settings.md"
HEAD = """# Settings

Scheduler Admin is configured with environment variables. Every process reads them when it starts, so restart all
processes after a change. If a value is not valid, the process does not start, and the error names the variable. With
Docker Compose, set the variables in `.env`; `deploy/env` is a template. The limits on a cluster's evictions are not
environment variables. Set them on the cluster's page *Settings* ([Safeguards](operations/safeguards.md#safeguards)).

This page is generated from `scheduler_admin/settings.py` by `make settings-page`.

| Variable | Unit | Default | Description |
| --- | --- | --- | --- |
"""
_ENTRY = re.compile(r"# ([A-Z0-9_]+) \(([^)]*)\): (.*)")
_READERS = {
    "read_flag": "0",
    "read_choice": "",
    "read_number": "",
    "read_networks": "",
    "read_service_account": "",
    "read_with_issuer": "",
    "get": "",
}
"""What reads a variable by its name -> the default where none is given."""
_NAMES = {"BASE_DIR": PurePosixPath("CHECKOUT"), "OIDC_ISSUER": "value of `OIDC_ISSUER`"}
"""Of the settings, those that defaults are made of."""


@dataclass(frozen=True)
class Explained:
    """What a comment says of a variable."""

    unit: str
    text: str


def explained(source: str) -> dict[str, Explained]:
    """Every variable that has a comment, in the order of the file. Raises ValueError for one that has two."""
    found: dict[str, Explained] = {}
    name = ""
    for line in source.splitlines():
        if entry := _ENTRY.fullmatch(line):
            name, unit, text = entry.groups()
            if name in found:
                raise ValueError(name)
            found[name] = Explained(unit, text)
        elif line.startswith("# ") and name:
            found[name] = Explained(found[name].unit, f"{found[name].text} {line[2:]}")
        else:
            name = ""
    return found


def defaults(source: str) -> dict[str, str]:
    """Every variable that is read -> its default as people read it, in the order of the file."""
    tree = ast.parse(source)
    required = {name for node in tree.body if (name := _demanded(node))}
    found = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            continue
        for call, fallback in _reads(statement):
            name = ast.literal_eval(call.args[0])
            found[name] = "required" if name in required else _default(call, fallback)
    return found


def _demanded(node: ast.stmt) -> str:
    """The name in ``if not NAME: raise``."""
    match node:
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)), body=[ast.Raise()]):
            return name
    return ""


def _reads(statement: ast.stmt) -> Iterator[tuple[ast.Call, ast.expr | None]]:
    """The calls that read a variable, each with what follows it after ``or``."""
    after = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            after[node.values[0]] = node.values[1]
        if isinstance(node, ast.Call) and _reader(node) and isinstance(node.args[0], ast.Constant):
            yield node, after.get(node)


def _reader(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Attribute(attr="environ"), attr=name) if name in _READERS:
            return name
    return ""


def _default(call: ast.Call, fallback: ast.expr | None) -> str:
    reader = _reader(call)
    if reader == "read_with_issuer":
        return "required with `OIDC_ISSUER`"
    given = fallback or (call.args[1] if len(call.args) > 1 else None)
    if isinstance(given, ast.Name) and given.id == "OIDC_ISSUER":
        return _NAMES[given.id]
    value = _READERS[reader] if given is None else eval(compile(ast.Expression(given), "settings.py", "eval"), _NAMES)
    return f"`{value}`" if str(value) else "none"


def page() -> str:
    """The whole page."""
    source = SOURCE.read_text(encoding="utf-8")
    told, read = explained(source), defaults(source)
    rows = [f"| `{name}` | {one.unit} | {read[name]} | {one.text} |\n" for name, one in told.items()]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
