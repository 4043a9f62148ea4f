"""Reports what Volcano calculates for the queues of a session, in Volcano's terms.

Source: updateShare and the overused functions of its plugins proportion and capacity.
"""

from typing import Any

from engine.model.objects import SharePlugin, VolcanoCluster
from engine.policies.volcano.amounts import SLACK, Fine, format_quantities, less_equal, to_fine
from engine.policies.volcano.queue_shares import share, shares


def figures(cluster: VolcanoCluster) -> dict[str, Any]:
    """Return the figures of every queue that takes part, with shares as numbers. Raises HierarchyError."""
    of = shares(cluster)
    allocated = {name: to_fine(amounts) for name, amounts in of.allocated.items()}
    by_request = cluster.settings.plugin is SharePlugin.PROPORTION
    found = {name: share(allocated[name], amounts, cluster.settings.plugin) for name, amounts in of.deserved.items()}
    leaves = sorted(of.leaves)
    if by_request:
        overused = [name for name in leaves if less_equal(of.deserved[name], allocated[name])]
    else:
        overused = [name for name in leaves if found[name] > 1]
    above = _exceeds_deserved if by_request else _exceeds_stated_deserved
    return {
        "deserved": {name: format_quantities(amounts) for name, amounts in of.deserved.items()},
        "realCapability": {name: format_quantities(amounts) for name, amounts in of.most.items()},
        "request": {name: format_quantities(to_fine(amounts)) for name, amounts in of.requests.items()},
        "allocated": {name: format_quantities(amounts) for name, amounts in allocated.items()},
        "share": {name: float(part) for name, part in found.items()},
        "overused": overused,
        "aboveDeserved": [name for name in leaves if above(allocated[name], of.deserved[name])],
    }


def _exceeds_deserved(allocated: Fine, deserved: Fine) -> bool:
    return any(allocated.get(name, 0) > amount + SLACK for name, amount in deserved.items())


def _exceeds_stated_deserved(allocated: Fine, deserved: Fine) -> bool:
    """Return whether a queue exceeds what it deserves of any resource of which it deserves some.

    If it deserves nothing at all, anything it holds exceeds that.
    """
    named = {name: amount for name, amount in deserved.items() if amount}
    return _exceeds_deserved(allocated, named or deserved)
