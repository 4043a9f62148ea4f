"""Random trees of consumers that ask more, or less, than a small cluster has."""

from fractions import Fraction
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from engine.model.quantities import Amounts
from engine.model.queue_tree import ROOT, WEIGHT_ONE, Queue, QueueTree
from engine.policies.deserved import Method
from tests.engine.plain_deserved import Claim

RESOURCES = ("cpu", "gpu", "memory")

_amounts = st.fixed_dictionaries({}, optional={name: st.integers(0, 12) for name in RESOURCES})
_few = st.just(Amounts()) | _amounts
_weights = st.sampled_from([1, 1, 1, 2, 3])


class World(NamedTuple):
    """Who asks what of which cluster."""

    tree: QueueTree
    requests: dict[str, Amounts]
    capacity: Amounts
    method: Method


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Trees of up to three levels, with floors, caps and weights that may promise more than there is."""
    queues = [Queue(path=ROOT)]
    for number in range(draw(st.integers(1, 6))):
        above = draw(st.sampled_from([one.path for one in queues if one.path.count(".") < 3]))
        most = draw(_few)
        guaranteed = draw(_few)
        weight = draw(_weights) * WEIGHT_ONE
        queues.append(Queue(path=f"{above}.q{number}", guaranteed=guaranteed, max=most, weight=weight))
    tree = QueueTree(queues)
    requests = {leaf: draw(_amounts) for leaf in tree.leaves}
    return World(tree, requests, draw(_amounts), draw(st.sampled_from(Method)))


@st.composite
def side_by_side(draw: st.DrawFn) -> World:
    """Consumers right below the root, whose requests are multiples of small shapes."""
    queues, requests = [Queue(path=ROOT)], {}
    for number in range(draw(st.integers(2, 6))):
        path = f"root.q{number}"
        weight = draw(_weights) * WEIGHT_ONE
        queues.append(Queue(path=path, guaranteed=draw(_few), max=draw(_few), weight=weight))
        times = draw(st.integers(1, 8))
        requests[path] = {name: times * draw(st.integers(0, 3)) for name in RESOURCES}
    capacity = {name: draw(st.integers(0, 24)) for name in RESOURCES}
    return World(QueueTree(queues), requests, capacity, draw(st.sampled_from(Method)))


class Flat(NamedTuple):
    """Claims without floors and caps on a cluster that has something of everything."""

    claims: tuple[Claim, ...]
    capacity: Amounts


_asked = {name: st.integers(1, 12) for name in RESOURCES}


@st.composite
def flat_worlds(draw: st.DrawFn, *, of_everything: bool = False) -> Flat:
    """Two to five of them; each asks ``of_everything``, or of some resources only."""
    requests = st.fixed_dictionaries(_asked) if of_everything else st.fixed_dictionaries({}, optional=_asked)
    claims = tuple(
        Claim(name=f"q{number}", request=draw(requests), weight=Fraction(draw(_weights)))
        for number in range(draw(st.integers(2, 5)))
    )
    return Flat(claims, {name: draw(st.integers(1, 12)) for name in RESOURCES})


def crowds() -> st.SearchStrategy[World]:
    """Up to forty queues and amounts of any size, many of them alike."""
    return st.integers(0, 2**32).map(lambda seed: _crowd(Random(seed)))


def _crowd(random: Random) -> World:
    largest = random.choice([5, 12, 100, 10**4, 2**33, 2**58, 2**62])
    few = [random.randint(0, largest) for _ in range(3)]
    names = ("cpu", "gpu", "memory", "pods")[: random.randint(1, 4)]

    def amount() -> int:
        return random.choice(few) if random.random() < 0.5 else random.randint(0, largest)

    def some(part: float) -> Amounts:
        return {name: amount() for name in names if random.random() < part}

    floors, caps, deep = random.choice([0, 0.1, 0.7]), random.choice([0, 0.1, 0.7]), random.choice([1, 2, 3])
    queues = [Queue(path=ROOT, guaranteed=some(floors / 3), max=some(caps / 3))]
    for number in range(random.randint(1, 40)):
        above = random.choice([one.path for one in queues if one.path.count(".") < deep])
        weight = random.choice([WEIGHT_ONE, 2 * WEIGHT_ONE, random.randint(0, WEIGHT_ONE), random.randint(0, 3)])
        path = f"{above}.q{number}"
        queues.append(Queue(path=path, guaranteed=some(floors), max=some(caps), weight=weight))
    tree, alike = QueueTree(queues), {name: amount() for name in names} if random.random() < 0.3 else None
    requests = {leaf: _times(random.randint(1, 4), alike) if alike else some(0.8) for leaf in tree.leaves}
    part = random.choice([0.1, 0.5, 1, 2, 20]) * len(queues) / 3
    capacity = {name: int(amount() * part) for name in names}
    return World(tree, requests, capacity, random.choice(list(Method)))


def _times(number: int, amounts: Amounts) -> Amounts:
    return {name: number * amount for name, amount in amounts.items()}
