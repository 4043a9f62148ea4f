"""Counting of the merges in a YAML document: a few lines of nested merges can describe a very large mapping."""

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

MOST_MERGED = 1_000
"""Largest number of merged mappings, nested merges included: the reader's time grows with the square of the number."""
UNREADABLE = (YAMLError, ValueError, RecursionError, TypeError, LookupError, AttributeError)
"""Errors that the reader raises; the last three are its own bugs, for example for ``!!int`` before a text."""
_KEY = "<<"


def count_merges(text: str) -> int:
    """Return how many mappings are merged into others.

    Raise RecursionError for a mapping that merges itself, and whatever the YAML reader raises.
    """
    if _KEY not in text:
        return 0
    counts: dict[int, int] = {}
    nodes = list(YAML(typ="rt").compose_all(text))
    return sum(_merged(node, counts) for node in _mappings(nodes))


def _mappings(documents: list[Node | None]) -> list[MappingNode]:
    """Return every mapping once, regardless of how many aliases refer to it."""
    mappings: dict[int, MappingNode] = {}
    seen: set[int] = set()
    pending = [node for node in documents if node is not None]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, MappingNode):
            mappings[id(node)] = node
            pending += [part for pair in node.value for part in pair]
        elif isinstance(node, SequenceNode):
            pending += node.value
    return list(mappings.values())


def _merged(node: MappingNode, counts: dict[int, int]) -> int:
    if id(node) not in counts:
        counts[id(node)] = -1  # the count is in progress
        merge_values = [value for key, value in node.value if key.value == _KEY]
        merged_nodes = [
            merged_node
            for value in merge_values
            for merged_node in (value.value if isinstance(value, SequenceNode) else [value])
        ]
        mappings = [merged_node for merged_node in merged_nodes if isinstance(merged_node, MappingNode)]
        counts[id(node)] = len(mappings) + sum(_merged(merged_node, counts) for merged_node in mappings)
    if counts[id(node)] < 0:
        raise RecursionError
    return counts[id(node)]
