"""``python -m tests.fuzz --examples 1000000``: far more than the tests give; says what it gave, and what broke."""

import argparse
import os
import sys
import time
import traceback

import django
from hypothesis import HealthCheck, Phase, given, seed, settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.fuzz.parsers import PARSERS  # noqa: E402 - they read Django's settings
from tests.fuzz.running import read, shares  # noqa: E402


def broken(name: str, examples: int, at: int) -> bool:
    """Give one parser so many examples; whether it broke."""
    parser = PARSERS[name]

    @seed(at)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(parser.given())
    def fuzz(one: object) -> None:
        read(parser, one)

    began = time.monotonic()
    try:
        fuzz()
    except Exception:  # noqa: BLE001 - it is what is looked for
        traceback.print_exc()
        print(f"{name}: BROKEN")
        return True
    print(f"{name}: {examples} examples in {time.monotonic() - began:.0f} s", flush=True)
    return False


def main() -> int:
    """1 where any of them broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--examples", type=int, default=1_000_000, help="for all parsers together")
    parser.add_argument(
        "--only", choices=PARSERS, action="append", help="these parsers; they get all examples of theirs"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same again")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    given = {name: count for name, count in shares(options.examples).items() if name in (options.only or PARSERS)}
    found = [name for name, count in given.items() if broken(name, count, options.seed)]
    print(f"{sum(given.values())} examples, {len(found)} of {len(given)} parsers broke")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
