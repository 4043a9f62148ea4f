"""What YuniKorn itself refuses in a queues.yaml: keys that it does not know, and amounts that it can't read.

Source: yunikorn-core, pkg/common/configs/config.go, which decodes with KnownFields, and
pkg/common/resources/quantity.go.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.formats.documents import line_of, nearest
from engine.formats.notes import Notebook, Severity, gettext_noop
from engine.formats.yunikorn.fields import VCORE

DOCUMENT = frozenset({"partitions"})
PARTITION = frozenset(
    {"name", "queues", "placementrules", "limits", "preemption", "nodesortpolicy", "statedumpfilepath"}
)
_RESOURCES = frozenset({"guaranteed", "max"})
TEMPLATE = frozenset({"maxapplications", "properties", "resources"})
QUEUE = TEMPLATE | {"name", "parent", "adminacl", "submitacl", "childtemplate", "queues", "limits"}
PROPERTIES = frozenset(
    {
        *("application.sort.policy", "application.sort.priority"),
        *("application.unschedasks.backoff", "application.unschedasks.backoff.delay"),
        *("priority.policy", "priority.offset", "preemption.policy", "preemption.delay", "quota.preemption.delay"),
    }
)
"""YuniKorn takes any others too, and passes over them."""
_LIMIT = frozenset({"limit", "users", "groups", "maxapplications", "maxresources"})
_AMOUNT = re.compile(r"[0-9]+\s*([kMGTPE]i?)?", re.ASCII)
_VCORES = re.compile(r"[0-9]+\s*(m|[kMGTPE]i?)?", re.ASCII)
_INSIDE = gettext_noop("%(field)s belongs inside resources: YuniKorn refuses the document.")
_NEAR = gettext_noop("YuniKorn knows no %(field)s here and refuses the document. Did you mean %(near)s?")
_UNKNOWN = gettext_noop("YuniKorn knows no %(field)s here and refuses the document.")
_WHOLE = gettext_noop(
    "%(value)s is no amount to YuniKorn, which refuses the document: it takes whole numbers with a unit, such as 2Gi, "
    "and 500m of vcore alone."
)


def check(document: Mapping[str, Any], book: Notebook) -> None:
    """Note an error for everything in a document that YuniKorn refuses, all partitions included."""
    _keys(document, DOCUMENT, "", book)
    for partition in _mappings(document.get("partitions")):
        _keys(partition, PARTITION, "", book)
        _limits(partition, "", book)
        pending = [("", queue) for queue in reversed(list(_mappings(partition.get("queues"))))]
        while pending:
            above, queue = pending.pop()
            path = f"{above}.{queue.get('name')}" if above else str(queue.get("name") or "")
            _keys(queue, QUEUE, path, book)
            _limits(queue, path, book)
            _resources(queue.get("resources"), path, book)
            template = queue.get("childtemplate")
            if isinstance(template, Mapping):
                _keys(template, TEMPLATE, path, book)
                _resources(template.get("resources"), path, book)
            pending += [(path, child) for child in reversed(list(_mappings(queue.get("queues"))))]


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings of a list; the reader reports whatever else is in it."""
    return (one for one in (value if isinstance(value, list) else ()) if isinstance(one, Mapping))


def _keys(mapping: Mapping[str, Any], known: frozenset[str], path: str, book: Notebook) -> None:
    for key in mapping:
        if key in known:
            continue
        name, line = str(key), line_of(mapping, key)
        if name in _RESOURCES and "resources" in known:
            book.add(Severity.ERROR, path, line, _INSIDE, field=name)
        elif near := nearest(name, known):
            book.add(Severity.ERROR, path, line, _NEAR, field=name, near=near)
        else:
            book.add(Severity.ERROR, path, line, _UNKNOWN, field=name)


def _limits(holder: Mapping[str, Any], path: str, book: Notebook) -> None:
    for limit in _mappings(holder.get("limits")):
        _keys(limit, _LIMIT, path, book)
        _amounts(limit.get("maxresources"), path, book)


def _resources(resources: Any, path: str, book: Notebook) -> None:
    if isinstance(resources, Mapping):
        _keys(resources, _RESOURCES, path, book)
        for name in sorted(_RESOURCES):
            _amounts(resources.get(name), path, book)


def _amounts(amounts: Any, path: str, book: Notebook) -> None:
    for name, value in amounts.items() if isinstance(amounts, Mapping) else ():
        grammar = _VCORES if str(name) == VCORE else _AMOUNT
        if grammar.fullmatch(str(value).strip()) is None:
            book.add(Severity.ERROR, path, line_of(amounts, name), _WHOLE, value=str(value))
