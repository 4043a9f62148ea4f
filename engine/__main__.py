"""``python -m engine``: what needs no cluster; ``decide`` recorded or hand-written cases, ``lint`` a tree."""

import argparse
import gzip
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from engine.formats.notes import ImportFailure, Severity
from engine.formats.yunikorn import read
from engine.lint import lint
from engine.offline import answer, name_of

SOUND, SOME_ERRORS, USAGE = 0, 1, 2
_GZIP_MAGIC = b"\x1f\x8b"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. Exit code: 0 all cases answered, or no error in a tree; 1 else; 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        with _opened(options.file) as lines:
            if options.command == "lint":
                return _lint(b"".join(lines))
            return _decide(lines, dialect=options.dialect, trace=options.trace, least=options.optimal)
    except OSError as error:
        print(f"{options.file}: {error.strerror or error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    decide = commands.add_parser("decide", help="one JSON case a line in, one JSON answer a line out, in order")
    decide.add_argument(
        "file", metavar="cases", nargs="?", default="-", help="a .jsonl file, gzipped or not; - is standard input"
    )
    decide.add_argument("--trace", action="store_true", help="with all that each decision rests on")
    decide.add_argument("--optimal", action="store_true", help="with the least victims there are")
    decide.add_argument("--dialect", choices=("design", "yunikorn"), help="in place of what each case names")
    tree = commands.add_parser("lint", help="what is wrong with a tree, or odd, and what to do about it")
    tree.add_argument("file", metavar="queues.yaml", nargs="?", default="-", help="gzipped or not; - is standard input")
    return parser


@contextmanager
def _opened(cases: str) -> Iterator[Iterable[bytes]]:
    """The cases as lines, unpacked where they are gzipped. Raises OSError."""
    with nullcontext(sys.stdin.buffer) if cases == "-" else Path(cases).open("rb") as packed:
        assert isinstance(packed, BufferedReader)
        if not packed.peek(2).startswith(_GZIP_MAGIC):
            yield packed
            return
        with gzip.open(packed) as unpacked:
            yield unpacked


def _lint(document: bytes) -> int:
    try:
        imported = read(document.decode("utf-8-sig"))
        notes = (*imported.notes, *lint(imported.tree))
    except ImportFailure as failure:
        notes = failure.notes
    except UnicodeDecodeError:
        print("The file is not UTF-8.", file=sys.stderr)
        return USAGE
    for note in notes:
        print(f"{note.severity}: {note}", note.remedy % note.params if note.remedy else "")
    return SOME_ERRORS if any(note.severity is Severity.ERROR for note in notes) else SOUND


def _decide(lines: Iterable[bytes], *, dialect: str | None, trace: bool, least: bool) -> int:
    code = SOUND
    for line in lines:
        if not line.strip():
            continue
        result = _answer_or_error(line, dialect=dialect, trace=trace, least=least)
        if "error" in result:
            code = SOME_ERRORS
        sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
        sys.stdout.buffer.flush()
    return code


def _answer_or_error(line: bytes, *, dialect: str | None, trace: bool, least: bool) -> dict[str, Any]:
    try:
        return answer(line, dialect=dialect, trace=trace, least=least)
    except (ValueError, RecursionError) as error:
        return {"name": name_of(line), "error": str(error)}


if __name__ == "__main__":
    sys.exit(main())
