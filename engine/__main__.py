"""``python -m engine decide``: decide recorded or hand-written cases, without a cluster."""

import argparse
import gzip
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from engine.offline import answer, name_of

ALL_ANSWERED, SOME_ERRORS, USAGE = 0, 1, 2
_GZIP_MAGIC = b"\x1f\x8b"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. Exit code: 0 all cases answered, 1 some were not, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        with _opened(options.cases) as lines:
            return _decide(lines, dialect=options.dialect, trace=options.trace, least=options.optimal)
    except OSError as error:
        print(f"{options.cases}: {error.strerror or error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    decide = commands.add_parser("decide", help="one JSON case a line in, one JSON answer a line out, in order")
    decide.add_argument("cases", nargs="?", default="-", help="a .jsonl file, gzipped or not; - is standard input")
    decide.add_argument("--trace", action="store_true", help="with all that each decision rests on")
    decide.add_argument("--optimal", action="store_true", help="with the least victims there are (policy priority)")
    decide.add_argument("--dialect", choices=("design", "yunikorn"), help="in place of what each case names")
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


def _decide(lines: Iterable[bytes], *, dialect: str | None, trace: bool, least: bool) -> int:
    code = ALL_ANSWERED
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
