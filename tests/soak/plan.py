"""What happens in a soak, of its seed alone: which faults, how long each, and how the work comes and goes."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

FAULTS = {
    "engine": ("killed", "stopped", "replaced"),
    "housekeeping": ("killed", "stopped"),
    "beat": ("killed", "stopped"),
    "web": ("killed", "stopped"),
    "redis": ("killed", "stopped", "emptied"),
    "api": ("slow", "cut", "silent", "failing", "forgetful"),
}
"""Whom what befalls, whichever database there is; see tests.soak.faults for what each is."""
DATABASES = {"sqlite": ("locked",), "postgres": ("killed", "stopped")}
LEAST_S, MOST_S = 2.0, 18.0
"""How long a fault lasts: the longest outlive a lease."""
_QUIET_S = (2.0, 6.0)
_BETWEEN_MOVES_S = (2.0, 5.0)
_TWO_AT_ONCE = 0.25
QUEUES = {"prod": range(5), "dev": range(3), "test": range(7, 9)}
"""How many pods of two cores each may want. Together they want more than there is; see tests.soak.ground."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with one part of the product."""

    target: str
    kind: str

    def __str__(self) -> str:
        return f"{self.target} {self.kind}"


@dataclass(frozen=True)
class Round:
    """After so many quiet seconds, faults that last so many seconds, all of them together."""

    quiet_s: float
    lasts_s: float
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Move:
    """After so many seconds a queue wants so many pods."""

    after_s: float
    queue: str
    replicas: int


def every(database: str) -> list[Fault]:
    """All faults that there are."""
    known = {**FAULTS, "database": DATABASES[database]}
    return [Fault(target, kind) for target, kinds in known.items() for kind in kinds]


def rounds(seed: int, database: str) -> Iterator[Round]:
    """Without end. Each fault comes before any comes again; now and then there are two at once."""
    dice = random.Random(f"faults {seed}")
    bag: list[Fault] = []
    while True:
        if len(bag) < 2:
            bag = dice.sample(every(database), len(every(database))) + bag
        faults = [bag.pop()]
        if dice.random() < _TWO_AT_ONCE and bag[-1].target != faults[0].target:
            faults.append(bag.pop())
        yield Round(dice.uniform(*_QUIET_S), dice.uniform(LEAST_S, MOST_S), tuple(faults))


def moves(seed: int) -> Iterator[Move]:
    """Without end: those with a guarantee come and go, and whoever has none takes what they leave."""
    dice = random.Random(f"work {seed}")
    while True:
        queue = dice.choices(list(QUEUES), (6, 3, 1))[0]
        yield Move(dice.uniform(*_BETWEEN_MOVES_S), queue, dice.choice(QUEUES[queue]))
