"""What is different between two trees beside their queues: by what they are decided, and how pods find their leaf."""

import msgspec

from engine.changes import Setting
from engine.formats.placement import write_rules
from engine.formats.terms import write_parameters
from engine.queues import QueueTree
from scheduler_admin.queues.services import Terms


def differing_terms(before: Terms, after: Terms) -> tuple[Setting, ...]:
    """Policy, dialect, and each parameter (``resource`` is its name)."""
    was, says = _texts(before), _texts(after)
    return tuple(
        Setting(field=field, resource=name, before=was.get((field, name), ""), after=says.get((field, name), ""))
        for field, name in dict.fromkeys((*was, *says))
        if was.get((field, name)) != says.get((field, name))
    )


def differing_placement(before: QueueTree, after: QueueTree) -> tuple[Setting, ...]:
    """The rules by which pods find their leaf, as JSON; one setting, as their order counts."""
    was, says = (msgspec.json.encode(write_rules(tree.placement), order="sorted").decode() for tree in (before, after))
    return (Setting(field="placement", before=was, after=says),) if was != says else ()


def _texts(terms: Terms) -> dict[tuple[str, str], str]:
    parameters = {("parameters", name): text for name, text in write_parameters(terms.parameters).items()}
    return {("policy", ""): terms.policy, ("dialect", ""): terms.dialect} | parameters
