"""Conversion between Kueue's resource groups and amounts.

A quota belongs to a resource in a flavor. If all objects of a text use the same flavor for a resource, the amount here
is named after the resource (``cpu``). If they use several flavors, there is an amount for each of them (``cpu@spot``);
nothing is summed up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.yaml.documents import line_of, list_at, note_others, typed_like
from engine.formats.yaml.object_list import Fields, Object
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.quantities import FLAVOR, Amounts, base, format_amount, is_resource_name

DEFAULT_FLAVOR = "default"
"""Flavor of a resource for which no flavor is known yet."""
MOST_QUOTAS = 1_000
"""Largest number of quotas in an object: with aliases, it can describe very many."""

_GROUP, _FLAVOR = ("coveredResources", "flavors"), ("name", "resources")
_QUOTA = ("name", "nominalQuota", "borrowingLimit", "lendingLimit")
Flavors = Mapping[str, set[str]]
"""Resource -> the flavors that the objects of a text use for it."""


class QuotaEntry(NamedTuple):
    """The quota of a resource in a flavor: an entry of a resource group."""

    resource: str
    flavor: str
    fields: Fields


class ResourceGroups(NamedTuple):
    """The amounts that the quotas of an object result in."""

    guaranteed: Amounts
    max: Amounts
    """Guaranteed amount plus borrowing limit, for resources that have a borrowing limit."""
    lendable: Amounts


def flavors_of(objects: Iterable[Object]) -> dict[str, set[str]]:
    """Return the flavors that objects use for each resource, by resource."""
    flavors: dict[str, set[str]] = {}
    for obj in objects:
        for quota in quotas_of(obj.spec, "", NoteCollector()):
            flavors.setdefault(quota.resource, set()).add(quota.flavor)
    return flavors


def quotas_of(spec: Mapping[str, Any], path: str, book: NoteCollector) -> Iterator[QuotaEntry]:
    """Yield the entries of all resource groups of a spec; an invalid entry is an error."""
    quotas_left = MOST_QUOTAS
    for covered, flavor in _flavors(spec, path, book):
        for entry in list_at(flavor, "resources", path, book):
            quotas_left -= 1
            if quotas_left < 0:
                message = gettext_noop("There are more than %(most)s quotas.")
                book.add(Severity.ERROR, path, line_of(spec, "resourceGroups"), message, most=str(MOST_QUOTAS))
                return
            if isinstance(entry, dict) and entry.get("name") and entry["name"] in covered:
                note_others(entry, _QUOTA, path, book)
                yield QuotaEntry(str(entry["name"]), str(flavor["name"]), entry)
            else:
                message = gettext_noop(
                    "A quota must be a mapping whose name is listed in its group's coveredResources."
                )
                book.add(Severity.ERROR, path, line_of(flavor, "resources"), message)


def _flavors(spec: Mapping[str, Any], path: str, book: NoteCollector) -> Iterator[tuple[list[Any], Fields]]:
    """Yield the flavors of all resource groups of a spec, each with the resources that its group covers."""
    for group in list_at(spec, "resourceGroups", path, book)[:MOST_QUOTAS]:
        if not isinstance(group, dict):
            line = line_of(spec, "resourceGroups")
            book.add(Severity.ERROR, path, line, gettext_noop("A resource group must be a mapping."))
            continue
        note_others(group, _GROUP, path, book)
        covered = list_at(group, "coveredResources", path, book)
        for flavor in list_at(group, "flavors", path, book)[:MOST_QUOTAS]:
            if isinstance(flavor, dict) and flavor.get("name"):
                note_others(flavor, _FLAVOR, path, book)
                yield covered, flavor
            else:
                line = line_of(group, "flavors")
                book.add(Severity.ERROR, path, line, gettext_noop("A flavor must be a mapping with a name."))


def our_resource(resource: str, flavor: str, flavors: Flavors) -> str:
    """Return our name of the amount of a resource in a flavor: with the flavor only if the resource has several."""
    return resource if len(flavors.get(resource, ())) <= 1 else f"{resource}{FLAVOR}{flavor}"


def read_quotas(spec: Mapping[str, Any], path: str, flavors: Flavors, book: NoteCollector) -> ResourceGroups:
    """Return the nominal quotas and limits of an object as amounts."""
    guaranteed: Amounts = {}
    most: Amounts = {}
    lendable: Amounts = {}
    for quota in quotas_of(spec, path, book):
        name = our_resource(quota.resource, quota.flavor, flavors)
        line = line_of(quota.fields, "name")
        if not is_resource_name(name):
            message = gettext_noop("%(name)s is not a valid resource name.")
            book.add(Severity.ERROR, path, line, message, name=repr(name))
            continue
        if name in guaranteed:
            message = gettext_noop("%(field)s sets %(resource)s twice.")
            book.add(Severity.ERROR, path, line, message, field="resourceGroups", resource=name)
        guaranteed[name] = _amount(quota, "nominalQuota", path, book) or 0
        borrowed, lent = (_amount(quota, field, path, book) for field in ("borrowingLimit", "lendingLimit"))
        if borrowed is not None:
            most[name] = guaranteed[name] + borrowed
        if lent is not None:
            lendable[name] = lent
    return ResourceGroups(guaranteed, most, lendable)


def _amount(quota: QuotaEntry, field: str, path: str, book: NoteCollector) -> int | None:
    value = quota.fields.get(field)
    if value is None:
        if field == "nominalQuota":
            message = gettext_noop("nominalQuota is missing.")
            book.add(Severity.ERROR, path, line_of(quota.fields, "name"), message)
        return None
    try:
        return read_amount(quota.resource, str(value), saturate=True)
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(quota.fields, field), error.sentence)
        return None


# Writing


def write_quotas(obj: Object, desired: ResourceGroups, flavors: Flavors) -> None:
    """Set the resource groups of an object to the amounts, as far as quotas can express them.

    Quotas that already agree are left as they are.
    """
    current = read_quotas(obj.spec, "", flavors, NoteCollector())
    for name in dict.fromkeys((*desired.guaranteed, *desired.max)):
        if name not in current.guaranteed or any(
            before.get(name) != after.get(name) for before, after in zip(current, desired, strict=True)
        ):
            fields = _entry(obj.own_spec(), name, flavors).fields
            _set(fields, base(name), desired.guaranteed.get(name, 0), desired.max.get(name), desired.lendable.get(name))
    for name in current.guaranteed:
        if name not in desired.guaranteed and name not in desired.max:
            _drop(obj.spec, name, flavors)


def _set(fields: Fields, resource: str, nominal: int, most: int | None = None, lent: int | None = None) -> None:
    borrowed = None if most is None or most < nominal else most - nominal
    quotas = {"nominalQuota": nominal, "borrowingLimit": borrowed, "lendingLimit": lent}
    for field, amount in quotas.items():
        if amount is None:
            fields.pop(field, None)
        elif field not in fields or read_amount(resource, str(fields[field]), saturate=True) != amount:
            fields[field] = typed_like(format_amount(resource, amount), fields.get(field, fields.get("nominalQuota")))


def _entry(spec: Fields, name: str, flavors: Flavors) -> QuotaEntry:
    """Return the entry of an amount, creating it if it is missing.

    Every flavor of a group must list the same resources, so missing entries are added to the other flavors too.
    """
    resource, _at, named = name.partition(FLAVOR)
    flavor = named or min(flavors.get(resource, ()), default=DEFAULT_FLAVOR)
    existing = next((entry for entry in quotas_of(spec, "", NoteCollector()) if entry[:2] == (resource, flavor)), None)
    if existing is not None:
        return existing
    groups = spec.get("resourceGroups")
    if not groups:
        groups = spec["resourceGroups"] = CommentedSeq()
    group = _group(groups, resource, flavor)
    if resource not in group["coveredResources"]:
        group["coveredResources"].append(resource)
    if all(listed_flavor["name"] != flavor for listed_flavor in group["flavors"]):
        group["flavors"].append(CommentedMap(name=flavor, resources=CommentedSeq()))
    for flavor_fields in group["flavors"]:
        listed = {entry["name"] for entry in flavor_fields["resources"]}
        flavor_fields["resources"] += [
            CommentedMap(name=covered, nominalQuota="0")
            for covered in group["coveredResources"]
            if covered not in listed
        ]
    return next(created for created in quotas_of(spec, "", NoteCollector()) if created[:2] == (resource, flavor))


def _group(groups: list[Any], resource: str, flavor: str) -> Fields:
    """Return the group that already has the resource or the flavor, else a new group.

    Kueue allows each resource and each flavor in only one group.

    Source: validateResourceGroups of Kueue (pkg/webhooks, clusterqueue_webhook.go).
    """
    for group in groups:
        if resource in group["coveredResources"] or any(
            listed_flavor["name"] == flavor for listed_flavor in group["flavors"]
        ):
            existing: Fields = group
            return existing
    made = CommentedMap(coveredResources=CommentedSeq(), flavors=CommentedSeq())
    groups.append(made)
    return made


def _drop(spec: Fields, name: str, flavors: Flavors) -> None:
    """Remove an amount; a flavor that must still list the resource grants 0 of it."""
    resource, _at, named = name.partition(FLAVOR)
    groups = spec["resourceGroups"]
    group = next(candidate for candidate in groups if resource in candidate["coveredResources"])
    if named and len(group["flavors"]) > 1 and len(flavors.get(resource, ())) > 1:
        entry = next(quota for quota in quotas_of(spec, "", NoteCollector()) if quota[:2] == (resource, named))
        _set(entry.fields, resource, 0)
        return
    group["coveredResources"].remove(resource)
    for flavor_fields in group["flavors"]:
        flavor_fields["resources"][:] = [entry for entry in flavor_fields["resources"] if entry["name"] != resource]
    if not group["coveredResources"]:
        groups.remove(group)
    if not groups:
        del spec["resourceGroups"]
