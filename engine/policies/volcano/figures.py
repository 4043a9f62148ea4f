"""What Volcano knows of the queues of a session, in its own words.

Source: updateShare and the overused functions of its plugins proportion and capacity,.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from engine.policies.volcano import capacity, proportion
from engine.policies.volcano.amounts import SLACK, Fine, fine, less_equal, written
from engine.resources import Amounts
from engine.snapshot import SharePlugin, VolcanoCluster


class _Shares(NamedTuple):
    deserved: Mapping[str, Fine]
    most: Mapping[str, Fine]
    requests: Mapping[str, Amounts]
    allocated: Mapping[str, Amounts]
    leaves: frozenset[str]


def figures(cluster: VolcanoCluster) -> dict[str, Any]:
    """Of every queue that takes part; shares as numbers. Raises HierarchyError."""
    shares = _shares(cluster)
    allocated = {name: fine(amounts) for name, amounts in shares.allocated.items()}
    by_request = cluster.plugin is SharePlugin.PROPORTION
    nothing = Fraction(0 if by_request else 1)  # so that queues which deserve nothing come after all others
    found = {name: _share(allocated[name], amounts, of_nothing=nothing) for name, amounts in shares.deserved.items()}
    leaves = sorted(shares.leaves)
    if by_request:
        overused = [name for name in leaves if less_equal(shares.deserved[name], allocated[name])]
    else:
        overused = [name for name in leaves if found[name] > 1]
    above = _above if by_request else _above_named
    return {
        "deserved": {name: written(amounts) for name, amounts in shares.deserved.items()},
        "realCapability": {name: written(amounts) for name, amounts in shares.most.items()},
        "request": {name: written(fine(amounts)) for name, amounts in shares.requests.items()},
        "allocated": {name: written(amounts) for name, amounts in allocated.items()},
        "share": {name: float(share) for name, share in found.items()},
        "overused": overused,
        "aboveDeserved": [name for name in leaves if above(allocated[name], shares.deserved[name])],
    }


def _shares(cluster: VolcanoCluster) -> _Shares:
    if cluster.plugin is SharePlugin.CAPACITY and cluster.hierarchical:
        tree = capacity.Hierarchy(cluster)
        return _Shares(tree.deserved, tree.most, tree.requests, tree.allocated, tree.leaves)
    most = proportion.capabilities(cluster, cluster.requests)
    by_request = cluster.plugin is SharePlugin.PROPORTION
    deserved = proportion.deserved(cluster) if by_request else capacity.deserved(cluster, most)
    return _Shares(deserved, most, cluster.requests, cluster.allocated, frozenset(deserved))


def _share(allocated: Fine, deserved: Fine, *, of_nothing: Fraction) -> Fraction:
    """The largest part of what it deserves any of."""
    parts = (Fraction(allocated.get(name, 0), amount) for name, amount in deserved.items() if amount >= SLACK)
    return max(parts, default=of_nothing)


def _above(allocated: Fine, deserved: Fine) -> bool:
    return any(allocated.get(name, 0) > amount + SLACK for name, amount in deserved.items())


def _above_named(allocated: Fine, deserved: Fine) -> bool:
    """As far as it deserves anything of a resource; where it deserves nothing at all, whatever it holds is above."""
    named = {name: amount for name, amount in deserved.items() if amount}
    return _above(allocated, named or deserved)
