"""Gives a parser what it may be given, and watches what it does."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.fuzz.parsers import PARSERS, Parser


class _TooLong(BaseException):
    """Nothing that a parser catches."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Fail what takes more CPU time than that, also where it would never end. A busy machine makes nothing slower."""

    def over(*_args: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except _TooLong:
        raise AssertionError(f"it takes more than {seconds} s") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read(parser: Parser, given: Any) -> None:
    """A value, or one of the parser's errors with a sentence that can be written down; else this fails."""
    with bounded(parser.seconds):
        try:
            parser.read(given)
        except parser.errors as error:
            str(error)


def shares(examples: int) -> dict[str, int]:
    """So many examples, shared out among the parsers; each gets one."""
    whole = sum(parser.share for parser in PARSERS.values())
    return {name: max(1, examples * parser.share // whole) for name, parser in PARSERS.items()}
