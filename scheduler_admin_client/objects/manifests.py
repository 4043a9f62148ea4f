"""Objects that are declared in files, in the form of Kubernetes: apiVersion, kind, metadata.name and spec."""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scheduler_admin_client.site import Trouble
from scheduler_admin_client.words import _

API_VERSION = "scheduler-admin.io/v1"
KINDS = ("Tenant", "NotificationChannel")
"""In the order in which they are created: a channel needs its tenant."""
REFERENCES = ("addressFrom", "secretFrom")
_SUFFIXES = (".yaml", ".yml", ".json")
_HEADS = frozenset({"apiVersion", "kind", "metadata", "spec"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@dataclass(frozen=True)
class Manifest:
    """A declared object, and where it stands."""

    kind: str
    name: str
    spec: Mapping[str, Any]
    place: str

    @property
    def tenant(self) -> str | None:
        """The tenant that a channel belongs to; None: the site, or it is no channel."""
        found: str | None = self.spec.get("tenant")
        return found

    @property
    def key(self) -> tuple[str, str, str]:
        """What no other object has."""
        return self.kind, self.tenant or "", self.name

    @property
    def title(self) -> str:
        """How the object is called in what is said of it."""
        return "/".join(filter(None, (self.kind, self.tenant, self.name)))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a declared object."""
    found: dict[str, Any] = json.loads(pkgutil.get_data("scheduler_admin_client", "objects.schema.json") or b"{}")
    return found


def read(paths: Iterable[Path]) -> list[Manifest]:
    """Return the objects of files, of folders with files, and of the standard input. Raises Trouble."""
    found: dict[tuple[str, str, str], Manifest] = {}
    for place, text in _texts(paths):
        for number, document in enumerate(_documents(place, text), 1):
            made = _manifest(f"{place}#{number}", document)
            if made.key in found:
                raise Trouble(
                    _("%(place)s: %(name)s is already declared in %(other)s.")
                    % {"place": made.place, "name": made.title, "other": found[made.key].place}
                )
            found[made.key] = made
    return sorted(found.values(), key=lambda each: (KINDS.index(each.kind), each.key))


def snake(name: str) -> str:
    """Return the REST API's name of a member: ``belowGuaranteeMinutes`` is ``below_guarantee_minutes``."""
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)


def _texts(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        try:
            if str(path) == "-":
                yield "-", sys.stdin.read()
                continue
            files = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES) if path.is_dir() else [path]
            for file in files:
                yield str(file), file.read_text(encoding="utf-8")
        except OSError as error:
            raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": path, "why": error.strerror}) from error
        except UnicodeDecodeError as error:
            raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": path, "why": error.reason}) from error


def _documents(place: str, text: str) -> list[Any]:
    """Return the documents of a YAML stream, and the items of lists."""
    try:
        found = [each for each in yaml.safe_load_all(text) if each is not None]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": place, "why": why}) from error
    whole: list[Any] = []
    for each in found:
        is_list = isinstance(each, dict) and each.get("kind") == "List" and isinstance(each.get("items"), list)
        whole += each["items"] if is_list else [each]
    return whole


def _manifest(place: str, document: Any) -> Manifest:
    """Check a document against the schema. Raises Trouble that says what is wrong, and where."""
    if not isinstance(document, dict) or set(document) != _HEADS or document["apiVersion"] != API_VERSION:
        raise Trouble(
            _("%(place)s: An object needs apiVersion: %(version)s, kind, metadata and spec, and nothing else.")
            % {"place": place, "version": API_VERSION}
        )
    kind, metadata, spec = (document[name] for name in ("kind", "metadata", "spec"))
    if kind not in KINDS:
        said = _("%(place)s: Unknown kind %(kind)s. Valid kinds: %(known)s.")
        raise Trouble(said % {"place": place, "kind": kind, "known": ", ".join(KINDS)})
    name = metadata.get("name") if isinstance(metadata, dict) and set(metadata) == {"name"} else None
    if not isinstance(name, str) or not name:
        raise Trouble(_("%s: metadata needs a name, and nothing else.") % place)
    _check_spec(place, kind, spec)
    return Manifest(kind, name, spec, place)


def _check_spec(place: str, kind: str, spec: Any) -> None:
    known = schema()["$defs"][kind]["properties"]
    for member in spec if isinstance(spec, dict) else [""]:
        if member not in known:
            said = _("%(place)s: spec.%(member)s is unknown. Valid members: %(known)s.")
            raise Trouble(said % {"place": place, "member": member, "known": ", ".join(known)})
        if not _fits(spec[member], known[member], member):
            raise Trouble(_("%(place)s: spec.%(member)s has a wrong value.") % {"place": place, "member": member})
    if kind == "NotificationChannel":
        _check_channel(place, spec)


def _fits(value: Any, described: Mapping[str, Any], member: str) -> bool:
    if member in REFERENCES:
        named = value.get("env") if isinstance(value, dict) and set(value) == {"env"} else None
        return isinstance(named, str) and bool(named)
    if "enum" in described:
        return value in described["enum"]
    wanted = described["type"] if isinstance(described["type"], list) else [described["type"]]
    kinds = tuple(each for name in wanted for each in _TYPES[name])
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, list):
        return list in kinds and all(isinstance(each, str) for each in value)
    return isinstance(value, kinds)


def _check_channel(place: str, spec: Mapping[str, Any]) -> None:
    """An address that is a secret is never in a file."""
    needed = {"email": {"address"}, "slack": {"addressFrom"}, "webhook": {"addressFrom", "secretFrom"}}
    kind = spec.get("kind")
    if kind is None:
        raise Trouble(_("%s: spec needs kind: webhook, slack or email.") % place)
    if {"address", *REFERENCES} & set(spec) != needed[kind]:
        said = _("%(place)s: A channel of the kind %(kind)s needs %(needed)s, and no other address or secret.")
        raise Trouble(said % {"place": place, "kind": kind, "needed": ", ".join(sorted(needed[kind]))})
