"""The OpenAPI document as it is checked in: a file for each collection of the API, so that a diff can be read.

``python -m tests.api.document`` writes the files anew from the sources. Nothing is left out: ``read`` gives back the
whole document.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("openapi")
PREFIX = "/api/v1/"
WIDTH = 120
OFTEN = 20
"""Operations with the same answer, from which on it stands once for all of them."""
Document = dict[str, Any]


def made() -> Document:
    """Return the document that the sources give, valid and made without a warning. Raises CommandError."""
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up

    text = io.StringIO()
    call_command("spectacular", format="openapi-json", validate=True, fail_on_warn=True, stdout=text)
    document: Document = json.loads(text.getvalue())
    return document


@cache
def read(folder: Path = FOLDER) -> Document:
    """Return the document that is checked in."""
    files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    document: Document = files.pop("document")
    responses = files.pop("responses")
    document["components"]["schemas"] = files.pop("schemas")
    paths = {path: operations for file in files.values() for path, operations in file.items()}
    for operation in _operations(paths):
        for code, answer in operation["responses"].items():
            operation["responses"][code] = answer if isinstance(answer, dict) else responses[answer]
    return {**document, "paths": paths}


def write(document: Document, folder: Path = FOLDER) -> None:
    """Check a document in, in place of what is there."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.json"):
        path.unlink()
    for name, content in _files(json.loads(json.dumps(document))).items():
        (folder / f"{name}.json").write_text(text(content) + "\n", encoding="utf-8")


def text(value: Any, indent: int = 0) -> str:
    """Return a value as JSON, with as much on a line as fits."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + len(line) <= WIDTH or not value or not isinstance(value, (dict, list)):
        return line
    pad = "\n" + " " * (indent + 1)
    if isinstance(value, list):
        return f"[{pad}" + f",{pad}".join(text(member, indent + 1) for member in value) + f"{pad[:-1]}]"
    rows = []
    for key, member in value.items():
        start = f"{json.dumps(key)}: "
        fits = indent + 1 + len(start) + len(json.dumps(member, ensure_ascii=False)) <= WIDTH
        rows.append(start + text(member, 0 if fits else indent + 1))
    return f"{{{pad}" + f",{pad}".join(rows) + f"{pad[:-1]}}}"


def _files(document: Document) -> dict[str, Any]:
    """Return what goes into each file; answers that several operations have stand once, in ``responses``."""
    schemas, paths = document["components"].pop("schemas"), document.pop("paths")
    many = _shared(paths)
    for operation in _operations(paths):
        for code, answer in operation["responses"].items():
            operation["responses"][code] = many.get(json.dumps(answer), answer)
    shared = {name: json.loads(answer) for answer, name in many.items()}
    files: dict[str, Any] = {"document": document, "schemas": schemas, "responses": shared}
    for path, operations in paths.items():
        words = [word for word in path.removeprefix(PREFIX).split("/") if not word.startswith("{")]
        files.setdefault(".".join(words[:2]), {})[path] = operations
    return files


def _shared(paths: Mapping[str, Any]) -> dict[str, str]:
    """Return text -> name of the few answers that most operations have, such as a problem; the code is the name."""
    answers = (pair for operation in _operations(paths) for pair in operation["responses"].items())
    counted = Counter((code, json.dumps(answer)) for code, answer in answers)
    names: dict[str, str] = {}
    for (code, answer), count in counted.most_common():
        if count >= OFTEN and code not in names.values():
            names.setdefault(answer, code)
    return names


def _operations(paths: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for operations in paths.values():
        yield from operations.values()


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    write(made())
