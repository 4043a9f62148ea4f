"""Run the command line ``python -m engine``, which needs no cluster: decide, replay, lint and forecast."""

import argparse
import gzip
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from engine.cli.cases import case_name
from engine.cli.decide import answer
from engine.cli.forecast import (
    GivenTree,
    forecast_manifests,
    report_data,
    report_lines,
    tree_of_document,
    tree_of_import,
)
from engine.cli.replay import replay_bundle
from engine.cli.replay import replay_result_lines as replayed_lines
from engine.formats.kubernetes.convert import to_ms
from engine.formats.kubernetes.decode import DecodeError, cluster_state
from engine.formats.registry import read
from engine.formats.tree_json.percentages import PercentageBase
from engine.formats.yaml.manifests import ManifestError, load
from engine.model.notes import ImportFailure, Severity
from engine.model.quantities import total
from engine.planning.bundle import BundleError, unpack
from engine.planning.journal import PassInputs
from engine.policies import UnknownPolicyError, fence, known_dialects, lint_rules
from engine.tree.lint import lint

SOUND, SOME_ERRORS, USAGE = 0, 1, 2
_ANY_SIZE = 2**40
_GZIP_MAGIC = b"\x1f\x8b"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Exit code 0: every case was answered, or the tree has no error. 1: a case or the tree has an error. 2: wrong usage.
    """
    options = _parser().parse_args(arguments)
    if options.command in _COMMANDS:
        return _COMMANDS[options.command](options)
    try:
        with _open_cases(options.file) as lines:
            if options.command == "lint":
                return _lint(b"".join(lines), options.policy, options.dialect)
            return _decide(
                lines, dialect=options.dialect, trace=options.trace, least=options.optimal, protect=options.protect
            )
    except OSError as error:
        print(f"{options.file}: {error.strerror or error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m engine", description="Decide, replay, check and forecast preemption without a cluster."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    decide = commands.add_parser(
        "decide", help="Decide cases: read one JSON case per line, print one JSON answer per line."
    )
    decide.add_argument(
        "file",
        metavar="cases",
        nargs="?",
        default="-",
        help="A .jsonl file, which can be gzipped. Default: standard input (-).",
    )
    decide.add_argument(
        "--trace", action="store_true", help="Add a trace with everything that each decision depends on."
    )
    decide.add_argument("--optimal", action="store_true", help="Add the smallest possible sets of victims.")
    decide.add_argument(
        "--protect",
        action="store_true",
        help="Protect the pods that mode enforce protects, such as system pods, and respect disruption budgets.",
    )
    decide.add_argument(
        "--dialect", choices=("design", "yunikorn"), help="Dialect to use instead of the one in each case."
    )
    again = commands.add_parser("replay", help="Replay a saved decision and report whether the result is the same.")
    again.add_argument("file", metavar="ZIP", type=Path, help="Replay file of a decision.")
    again.add_argument("--json", action="store_true", help="Print JSON with the recorded and the replayed decision.")
    tree = commands.add_parser("lint", help="Report errors and likely mistakes in a queue tree, and how to fix them.")
    tree.add_argument(
        "file",
        metavar="tree",
        nargs="?",
        default="-",
        help="Queue tree in any supported format, which can be gzipped. Default: standard input (-).",
    )
    tree.add_argument("--policy", default="", help="Policy to check for. Default: the policy of the tree, or fence.")
    tree.add_argument(
        "--dialect",
        default="",
        help="Dialect of the policy. Default: the dialect of the tree, or the first one of the policy.",
    )
    ahead = commands.add_parser("forecast", help="Forecast which pods would be preempted for which pending pods.")
    cluster = ahead.add_mutually_exclusive_group(required=True)
    cluster.add_argument(
        "--snapshot", metavar="ZIP", type=Path, help="Saved snapshot, which has its own tree and time."
    )
    cluster.add_argument(
        "--manifests",
        metavar="PATH",
        action="append",
        help="Directory or file with Kubernetes objects in YAML or JSON. Can be repeated.",
    )
    ahead.add_argument(
        "--tree",
        metavar="FILE",
        help="Queue tree in any supported format, such as queues.yaml, Kueue objects or Consumers.",
    )
    ahead.add_argument(
        "--policy",
        default="",
        help=f"One of {', '.join(known_dialects())}. Default: the policy of the tree, or fence.",
    )
    ahead.add_argument(
        "--dialect",
        default="",
        help="Dialect of the policy. Default: the dialect of the tree, or the first one of the policy.",
    )
    ahead.add_argument(
        "--now",
        type=_time,
        metavar="TIME",
        help="Time of the forecast (RFC 3339). Default: the time of the snapshot, or the latest time in the objects.",
    )
    ahead.add_argument("--json", action="store_true", help="Print JSON.")
    return parser


def _time(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a time. Use the format 2026-11-22T10:00:00Z.") from error
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no time zone. Use the format 2026-11-22T10:00:00Z.")
    return to_ms(moment)


@contextmanager
def _open_cases(cases: str) -> Iterator[Iterable[bytes]]:
    """Open a file of cases and yield its lines, unpacked where it is gzipped. Raises OSError."""
    with nullcontext(sys.stdin.buffer) if cases == "-" else Path(cases).open("rb") as packed:
        assert isinstance(packed, BufferedReader)
        if not packed.peek(2).startswith(_GZIP_MAGIC):
            yield packed
            return
        with gzip.open(packed) as unpacked:
            yield unpacked


def _lint(document: bytes, policy: str, dialect: str) -> int:
    try:
        imported = read(document.decode("utf-8-sig"))
        given_tree = tree_of_import(imported).by(policy, dialect)
        by = given_tree.policy or fence.POLICY
        if by not in known_dialects():
            print(f"Unknown policy {by}.", file=sys.stderr)
            return USAGE
        dialect = given_tree.dialect or known_dialects()[by][0]
        notes = (*imported.notes, *lint(imported.tree, lint_rules(by, dialect), form=imported.form))
    except ImportFailure as failure:
        notes = failure.notes
    except UnicodeDecodeError:
        print("The file is not UTF-8.", file=sys.stderr)
        return USAGE
    for note in notes:
        print(f"{note.severity}: {note}", note.remedy or "")
    return SOME_ERRORS if any(note.severity is Severity.ERROR for note in notes) else SOUND


def _replay(options: argparse.Namespace) -> int:
    try:
        result = replay_bundle(unpack(_bytes(options.file), _ANY_SIZE))
    except (ImportFailure, DecodeError, msgspec.ValidationError, UnknownPolicyError) as failure:
        print(failure, file=sys.stderr)
        return SOME_ERRORS
    except (ManifestError, BundleError) as error:
        print(error, file=sys.stderr)
        return USAGE
    if options.json:
        answer = {"same": result.same, "then": result.decision, "now": result.again}
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    else:
        print(*replayed_lines(result), sep="\n")
    return SOUND if result.same else SOME_ERRORS


def _read_tree(file: str | None, document: Any, objects: Iterable[Any]) -> GivenTree:
    """Return the tree in ``file``; without a file, return the tree that ``document`` describes, if there is one.

    Percentages in the file are shares of what the nodes can allocate. Raises ManifestError, ImportFailure and
    DecodeError.
    """
    if file:
        nodes = cluster_state(objects).state.nodes.values()
        return tree_of_import(
            read(_text(Path(file)), capacity=PercentageBase(total(node.allocatable for node in nodes)))
        )
    return GivenTree() if document is None else tree_of_document(document)


def _bytes(path: Path) -> bytes:
    """Return the content of a file. Raises ManifestError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}.") from error


def _forecast(options: argparse.Namespace) -> int:
    try:
        objects, document, moment = _cluster(options)
        given_tree = _read_tree(options.tree, document, objects)
        if options.now is not None:
            moment = msgspec.structs.replace(moment or PassInputs(now_ms=0), now_ms=options.now)
        report = forecast_manifests(objects, given_tree.by(options.policy, options.dialect), moment)
    except (ImportFailure, DecodeError, msgspec.ValidationError) as failure:
        print(failure, file=sys.stderr)
        return SOME_ERRORS
    except (ManifestError, BundleError, LookupError) as error:
        print(error, file=sys.stderr)
        return USAGE
    if options.json:
        sys.stdout.buffer.write(msgspec.json.encode(report_data(report)) + b"\n")
    else:
        print(*report_lines(report), sep="\n")
    return SOUND


def _cluster(options: argparse.Namespace) -> tuple[list[Any], Any, PassInputs | None]:
    """Return the objects, with the tree's document and the pass inputs where they are known.

    Raises ManifestError and BundleError.
    """
    if options.snapshot is None:
        return [document.obj for document in load(options.manifests)], None, None
    bundle = unpack(_bytes(options.snapshot), _ANY_SIZE)
    objects = [document.obj for obj in bundle.objects for document in load([obj])]
    return objects, bundle.tree, bundle.moment


def _text(path: Path) -> str:
    """Return the text of a file. Raises ManifestError."""
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(f"{path} is not UTF-8.") from error


def _decide(cases: Iterable[bytes], **how: Any) -> int:
    code = SOUND
    for line in cases:
        if not line.strip():
            continue
        result = _answer_or_error(line, **how)
        if "error" in result:
            code = SOME_ERRORS
        sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
        sys.stdout.buffer.flush()
    return code


def _answer_or_error(line: bytes, **how: Any) -> dict[str, Any]:
    try:
        return answer(line, **how)
    except (ValueError, RecursionError) as error:
        return {"name": case_name(line), "error": str(error)}


_COMMANDS = {"forecast": _forecast, "replay": _replay}


if __name__ == "__main__":
    sys.exit(main())
