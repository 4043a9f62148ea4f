"""Random trees of consumers that ask more, or less, than a small cluster has."""

from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st

from engine.policies.deserved import Claim, Method
from engine.queues import ROOT, WEIGHT_ONE, Queue, QueueTree
from engine.resources import Amounts

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
