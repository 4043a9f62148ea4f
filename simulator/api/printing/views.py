"""Converts stored objects for answers: into the requested version, as lists, tables or bare metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.api.printing import tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from simulator.kinds import ApiResource
    from simulator.objects import Object

# Fields of an Event in v1 and in events.k8s.io/v1.
EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
FROM_EVENT_VIEW = {new: old for old, new in EVENT_FIELDS.items()}


def present(kind: ApiResource, obj: Object) -> Object:
    """Return a stored object in the form of the given kind."""
    if obj["apiVersion"] == kind.api_version:
        return obj
    shown = _renamed(obj, EVENT_FIELDS) if kind.stored_as else obj
    return {**shown, "apiVersion": kind.api_version}


def accept(kind: ApiResource, stored: ApiResource, obj: Mapping[str, Any]) -> Object:
    """Return an object that was sent in the form of a kind, in the form in which it is stored."""
    accepted = _renamed(obj, FROM_EVENT_VIEW) if kind.stored_as else obj
    return {**accepted, "kind": stored.kind, "apiVersion": stored.api_version}


def _renamed(obj: Mapping[str, Any], names: Mapping[str, str]) -> Object:
    return {names.get(field, field): value for field, value in obj.items()}


def list_kind(kind: ApiResource, items: list[Object], meta: Object) -> Object:
    """Return the list object of a kind."""
    return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": meta, "items": items}


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of answers that a client accepts: "" for whole objects, Table, or PartialObjectMetadata."""

    form: str = ""
    include: str = "Metadata"

    def present_object(self, kind: ApiResource, obj: Object, now: datetime) -> Object:
        """Return one object in this form."""
        if self.form == "Table":
            return self._table(kind, [obj], {"resourceVersion": obj["metadata"].get("resourceVersion", "")}, now)
        return self._partial(obj) if self.form else obj

    def present_list(self, kind: ApiResource, items: list[Object], meta: Object, now: datetime) -> Object:
        """Return a list in this form."""
        if self.form == "Table":
            return self._table(kind, items, meta, now)
        if self.form:
            partial = [self._partial(item) for item in items]
            return {**META_VERSION, "kind": "PartialObjectMetadataList", "metadata": meta, "items": partial}
        return list_kind(kind, items, meta)

    def _table(self, kind: ApiResource, items: list[Object], meta: Object, now: datetime) -> Object:
        columns, cells = tables.columns(kind)
        rows = [{"cells": cells(item, now), **self._row_object(item)} for item in items]
        return {**META_VERSION, "kind": "Table", "metadata": meta, "columnDefinitions": columns, "rows": rows}

    def _row_object(self, obj: Object) -> Object:
        if self.include == "None":
            return {}
        return {"object": obj if self.include == "Object" else self._partial(obj)}

    @staticmethod
    def _partial(obj: Object) -> Object:
        return {**META_VERSION, "kind": "PartialObjectMetadata", "metadata": obj["metadata"]}


META_VERSION = {"apiVersion": "meta.k8s.io/v1"}


def negotiate(accept_header: str, include: str) -> AnswerForm:
    """Return the first form in an Accept header that the server can write; whole objects if there is none."""
    for clause in accept_header.split(","):
        media, *parameters = (part.strip() for part in clause.split(";"))
        settings = dict(part.partition("=")[::2] for part in parameters)
        if media != "application/json":
            continue
        form = settings.get("as", "").removesuffix("List")
        if not form or (form in ("Table", "PartialObjectMetadata") and settings.get("v") == "v1"):
            return AnswerForm(form, include or "Metadata")
    return AnswerForm()
