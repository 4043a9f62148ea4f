"""Resource lists of other systems' objects, ``{cpu: "4", memory: 16Gi}``: read as amounts and changed in place."""

from collections.abc import Callable, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.yaml.documents import line_of, mapping_at, typed_like
from engine.formats.yaml.object_list import Fields
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.quantities import Amounts, format_amount, is_resource_name

Named = Callable[[str], str | None]
"""Maps another system's resource name to the name here; None for a resource that is only kept."""


def read_quantities(
    holder: Mapping[str, Any], field: str, path: str, book: NoteCollector, named: Named = lambda name: name
) -> Amounts:
    """Return the amounts in a field. Each amount that can't be read is left out, with an error at its line."""
    texts = mapping_at(holder, field, path, book)
    amounts: Amounts = {}
    for name, value in texts.items():
        line, resource = line_of(texts, name), named(str(name))
        if resource is None:
            message = gettext_noop("%(field)s has no counterpart here. It is kept and written back unchanged.")
            book.add(Severity.INFO, path, line, message, field=f"{field} {name}")
            continue
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not a valid resource name.")
            book.add(Severity.ERROR, path, line, message, name=repr(resource))
        if resource in amounts:
            message = gettext_noop("%(field)s sets %(resource)s twice.")
            book.add(Severity.ERROR, path, line, message, field=field, resource=resource)
        try:
            amounts[resource] = read_amount(resource, str(value))
        except AmountError as error:
            book.add(Severity.ERROR, path, line, error.sentence)
    return amounts


def write_quantities(
    holder: Fields,
    field: str,
    amounts: Amounts,
    named: Named = lambda name: name,
    spelled: Callable[[str], str] = lambda resource: resource,
) -> None:
    """Set a field to the given amounts; values that already agree keep their notation."""
    current = read_quantities(holder, field, "", NoteCollector(), named)
    if current == amounts:
        return
    texts = holder.get(field)
    if texts is None:
        texts = holder[field] = CommentedMap()
    keys = {named(str(name)): name for name in texts}
    sample = next(iter(texts.values()), None)
    for resource in current:
        if resource not in amounts:
            del texts[keys[resource]]
    for resource, amount in amounts.items():
        if current.get(resource) != amount:
            name = keys.get(resource, spelled(resource))
            texts[name] = typed_like(format_amount(resource, amount), texts.get(name, sample))
    if not texts:
        del holder[field]
