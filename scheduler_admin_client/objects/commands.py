"""Orders about declared objects: what a site has else than the files say, and making it what they say."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from scheduler_admin_client.objects.manifests import KINDS, REFERENCES, Manifest, read, snake
from scheduler_admin_client.outputs import plain
from scheduler_admin_client.plans import CHANGES, SAME
from scheduler_admin_client.site import Refused, Site, Trouble, pass_site
from scheduler_admin_client.words import _, ngettext

_ROUTES = {"Tenant": "tenants", "NotificationChannel": "notification-channels"}
_FIXED = ("tenant", "kind")
"""Members of a channel that cannot change."""
_NOT_FOUND = 404
_MARKS = {"create": "+", "update": "~", "delete": "-", "keep": "?"}


@dataclass(frozen=True)
class Step:
    """What differs of one object, and what apply does about it."""

    action: str
    """``create``, ``update``, ``delete``, or ``keep`` for what is on the site alone."""
    title: str
    kind: str
    manifest: Manifest | None
    found: Mapping[str, Any] | None
    """The object as it is on the site."""
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Member of the REST API -> what it is, and what it is to be. No secrets."""

    @property
    def document(self) -> dict[str, Any]:
        """Return what a program is told."""
        changes = {name: {"now": was, "declared": now} for name, (was, now) in self.changes.items()}
        return {"action": self.action, "object": self.title, "changes": changes}


_files = click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    required=True,
    type=click.Path(exists=True, allow_dash=True, path_type=Path),
    help=_("File or folder with objects, - for the standard input. Can be repeated."),
)
_prune = click.option(
    "--prune",
    is_flag=True,
    help=_("Also delete objects that the files do not declare, of the kinds that they declare."),
)
_resend = click.option(
    "--resend-secrets",
    is_flag=True,
    help=_("Send addresses and secrets of all channels again, since they cannot be read."),
)
_output = click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.command("plan", help=_("Show how tenants and notification channels differ from what the files declare."))
@_files
@_prune
@_resend
@_output
@pass_site
def plan(site: Site, /, files: Sequence[Path], prune: bool, resend_secrets: bool, output: str) -> int:
    """Show what apply would do; nothing is changed."""
    steps = _steps(site, read(files), prune=prune, resend=resend_secrets)
    if output == "text":
        click.echo("".join(f"{plain(_line(step))}\n" for step in steps), nl=False)
    _summarize(steps, output)
    return CHANGES if _changing(steps) else SAME


@click.command("apply", help=_("Create and change tenants and notification channels as the files declare them."))
@_files
@_prune
@_resend
@click.option("--reason", required=True, help=_("Reason, kept in the audit log."))
@_output
@pass_site
def apply(site: Site, /, files: Sequence[Path], prune: bool, resend_secrets: bool, reason: str, output: str) -> int:
    """Do what differs, each object only if nobody changes it meanwhile."""
    steps = _steps(site, read(files), prune=prune, resend=resend_secrets)
    for step in _changing(steps):
        if step.manifest is not None:
            _body(step, os.environ)  # before anything is changed: all secrets are there
    for step in steps:
        try:
            _do(site, step, reason)
        except Trouble:
            click.echo(plain(_("%s was not applied:") % step.title), err=True)
            raise
        if output == "text":
            click.echo(plain(_line(step)))
    _summarize(steps, output)
    return SAME


def _changing(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.action != "keep"]


def _steps(site: Site, declared: Sequence[Manifest], *, prune: bool, resend: bool) -> list[Step]:
    """Return what differs, in the order in which it is done: tenants come first, and go last."""
    if not declared:
        raise Trouble(_("The files declare no object."))
    there = {kind: _there(site, kind) for kind in KINDS if any(each.kind == kind for each in declared)}
    steps = [step for each in declared for step in _differing(each, there[each.kind].pop(each.key, None), resend)]
    left = [(kind, key, found) for kind in reversed(KINDS) for key, found in sorted(there.get(kind, {}).items())]
    action = "delete" if prune else "keep"
    return steps + [Step(action, "/".join(filter(None, key)), kind, None, found) for kind, key, found in left]


def _there(site: Site, kind: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the objects of a kind that the site has."""
    try:
        rows = site.get(_ROUTES[kind]).body["results"]
    except Refused as refused:
        if refused.status != _NOT_FOUND:
            raise
        rows = []  # channels belong to tenants, and there is none
    return {(kind, row.get("tenant") or "", row["name"]): row for row in rows}


def _differing(declared: Manifest, found: Mapping[str, Any] | None, resend: bool) -> Iterator[Step]:
    """Yield what is to be done about an object, if anything."""
    wanted = {snake(name): value for name, value in declared.spec.items() if name not in REFERENCES}
    address = wanted.pop("address", None) or _value(declared, "addressFrom", os.environ)
    if address is not None and declared.kind == "NotificationChannel":
        wanted["destination"] = urlsplit(address).hostname or address if "addressFrom" in declared.spec else address
    if found is None:
        yield Step("create", declared.title, declared.kind, declared, None, {k: (None, v) for k, v in wanted.items()})
        return
    changes = {name: (found.get(name), now) for name, now in wanted.items() if not _same(found.get(name), now)}
    if fixed := [name for name in _FIXED if name in changes]:
        said = _("%(place)s: %(member)s of %(name)s cannot change. Delete the object first.")
        raise Trouble(said % {"place": declared.place, "member": fixed[0], "name": declared.title})
    if resend and {*REFERENCES} & set(declared.spec):
        changes["secrets"] = (None, None)
    if changes:
        yield Step("update", declared.title, declared.kind, declared, found, changes)


def _same(was: Any, now: Any) -> bool:
    """Whether two values say the same: lists of names are sets."""
    return set(was) == set(now) if isinstance(was, list) and isinstance(now, list) else bool(was == now)


def _value(declared: Manifest, member: str, environment: Mapping[str, str]) -> str | None:
    """Return the value of the variable that a reference names; None where there is none."""
    reference = declared.spec.get(member)
    return environment.get(reference["env"]) or None if reference else None


def _body(step: Step, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what is sent to create or change an object. Raises Trouble where a variable is not set."""
    declared = step.manifest
    assert declared is not None
    plainly = {snake(name): value for name, value in declared.spec.items() if name not in REFERENCES}
    secrets = {}
    if step.action == "create" or {"destination", "secrets"} & set(step.changes):
        for member in REFERENCES:
            if member in declared.spec:
                value = _value(declared, member, environment)
                if value is None:
                    said = _("%(place)s: The environment variable %(name)s is not set.")
                    raise Trouble(said % {"place": declared.place, "name": declared.spec[member]["env"]})
                secrets[member[: -len("From")]] = value
    if step.action == "create":
        of = {} if declared.kind == "Tenant" else {"tenant": declared.tenant}
        return {"name": declared.name, **of, **plainly, **secrets}
    changed = {name: value for name, value in plainly.items() if name in step.changes}
    if "destination" in step.changes and "address" in plainly:
        changed["address"] = plainly["address"]
    return {**changed, **secrets}


def _do(site: Site, step: Step, reason: str) -> None:
    """Do what is to be done about one object. Raises Refused, Trouble."""
    if step.action == "keep":
        return
    route = _ROUTES[step.kind]
    query = {"reason": reason} if step.kind == "Tenant" else {}
    if step.action == "create":
        site.write("POST", route, body=json.dumps(_body(step, os.environ)).encode(), **query)
        return
    assert step.found is not None
    place = (route, str(step.found["name"] if step.kind == "Tenant" else step.found["id"]))
    etag = site.get(*place).etag if step.action == "delete" else _unchanged(site, place, step)
    body = json.dumps(_body(step, os.environ)).encode() if step.action == "update" else None
    site.write("PATCH" if body else "DELETE", *place, body=body, etag=etag, **query)


def _unchanged(site: Site, place: tuple[str, ...], step: Step) -> str:
    """Return the ETag of an object that is still as it was compared. Raises Trouble."""
    now = site.get(*place)
    if any(now.body.get(name) != was for name, (was, _now) in step.changes.items() if name != "secrets"):
        raise Trouble(_("%s has changed in the meantime. Plan again.") % step.title)
    return now.etag


def _summarize(steps: Sequence[Step], output: str) -> None:
    """Say how many steps there are of each kind; to a program, all of them."""
    if output == "json":
        click.echo(json.dumps({"steps": [step.document for step in steps]}, indent=2, ensure_ascii=False))
        return
    numbers = [sum(step.action == action for step in steps) for action in ("create", "update", "delete")]
    counted: tuple[Callable[[int], str], ...] = (
        lambda n: ngettext("%d to create", "%d to create", n) % n,
        lambda n: ngettext("%d to change", "%d to change", n) % n,
        lambda n: ngettext("%d to delete", "%d to delete", n) % n,
    )
    click.echo(_("Objects: %s.") % _(", ").join(say(n) for say, n in zip(counted, numbers)))


def _line(step: Step) -> str:
    if step.action == "keep":
        return _("? %s is not declared. It stays, unless you add --prune.") % step.title
    said = [_change(name, was, now) for name, (was, now) in step.changes.items()]
    return f"{_MARKS[step.action]} {step.title}" + (f" ({'; '.join(said)})" if said else "")


def _change(name: str, was: Any, now: Any) -> str:
    if name == "secrets":
        return name
    return f"{name}: {_text(now)}" if was is None else f"{name}: {_text(was)} → {_text(now)}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
