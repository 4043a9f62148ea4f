"""What is different between two trees beside their queues: by what they are decided, and how pods find their leaf."""

import msgspec

from engine.formats.tree_json.diff import Setting
from engine.formats.tree_json.placement import write_rules
from engine.formats.tree_json.policy_terms import write_parameters
from engine.model.quantities import format_amount
from engine.model.queue_tree import QueueTree
from scheduler_admin.queues.services.hierarchies import Terms


def differing_terms(before: Terms, after: Terms) -> tuple[Setting, ...]:
    """Policy, dialect, and each parameter (``resource`` is its name)."""
    was, says = _texts(before), _texts(after)
    return tuple(
        Setting(field=field, resource=name, before=was.get((field, name), ""), after=says.get((field, name), ""))
        for field, name in dict.fromkeys((*was, *says))
        if was.get((field, name)) != says.get((field, name))
    )


def differing_tree(before: QueueTree, after: QueueTree) -> tuple[Setting, ...]:
    """What two trees say beside their queues: placement rules, and what shares of the cluster are of."""
    return (*_differing_placement(before, after), *_differing_capacity(before, after))


def _differing_placement(before: QueueTree, after: QueueTree) -> tuple[Setting, ...]:
    """The rules by which pods find their leaf, as JSON; one setting, as their order counts."""
    was, says = (msgspec.json.encode(write_rules(tree.placement), order="sorted").decode() for tree in (before, after))
    return (Setting(field="placement", before=was, after=says),) if was != says else ()


def _differing_capacity(before: QueueTree, after: QueueTree) -> tuple[Setting, ...]:
    """Of what the cluster holds, what both have shares of (``resource``), and by now of another amount."""
    return tuple(
        Setting(field="capacity", resource=name, before=format_amount(name, was), after=format_amount(name, now))
        for name, was in sorted(before.capacity.items())
        if (now := after.capacity.get(name, was)) != was
    )


def _texts(terms: Terms) -> dict[tuple[str, str], str]:
    parameters = {("parameters", name): text for name, text in write_parameters(terms.parameters).items()}
    return {("policy", ""): terms.policy, ("dialect", ""): terms.dialect} | parameters
