"""Orders about trees: what a document would change, put it in force, what is odd about it, and take it out."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from scheduler_admin_client import outputs
from scheduler_admin_client.findings import Finding, of_problem, of_result
from scheduler_admin_client.site import RULED_OUT, Refused, Site, Trouble
from scheduler_admin_client.words import _

SAME, CHANGES, LIMITS = 0, 2, 3
_NOT_FOUND = 404
_FORMS = ("yunikorn", "kueue", "consumers", "volcano", "kai", "scheduler-admin", "json")
_OUTPUTS = ("text", "json", "junit", "github")
Option = Callable[[Callable[..., Any]], Callable[..., Any]]

_hierarchy = click.argument("hierarchy")
_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
_format: Option = click.option(
    "--format", help=_("Format of the document, needed only if it cannot be detected: kueue.")
)
_subtree: Option = click.option("--subtree", help=_("The document contains only this queue and the queues below it."))
_fail_on: Option = click.option(
    "--fail-on",
    help=_(
        "Exit with code 3 if any of these is found (comma-separated): preemptions, orphans, loops, lint:warning ..."
    ),
)
_output: Option = click.option("--output", type=click.Choice(_OUTPUTS), default="text", show_default=True)


@dataclass(frozen=True)
class Plan:
    """What the API says of a document: a result, or a problem."""

    result: dict[str, Any] | None
    problem: dict[str, Any] | None
    etag: str

    @property
    def findings(self) -> list[Finding]:
        """All that is said of it, beside the changes."""
        if self.result is None:
            return list(of_problem(self.problem or {}))
        return list(of_result(self.result, (self.problem or {}).get("errors", [])))

    @property
    def changes(self) -> list[str]:
        """In words."""
        return [row["sentence"] for row in (self.result or {}).get("changes", [])]

    @property
    def code(self) -> int:
        """To exit with."""
        if self.result is None:
            return 1
        return LIMITS if self.problem else CHANGES if self.result["changed"] else SAME


@click.command(help=_("Show what the document in FILE would change and which pods it would preempt."))
@_hierarchy
@_file
@_format
@_subtree
@_fail_on
@_output
@click.pass_obj
def plan(site: Site, /, hierarchy: str, file: Path, output: str, **asked: str | None) -> int:
    """A dry run, told whole."""
    found = _planned(site, hierarchy, _read(file), asked)
    if output in ("text", "github"):
        _tell_plan(hierarchy, file, found)
    _tell_program(output, file, found)
    return found.code


@click.command(help=_("Check the document in FILE for likely mistakes."))
@_hierarchy
@_file
@_format
@_subtree
@_fail_on
@_output
@click.pass_obj
def lint(site: Site, /, hierarchy: str, file: Path, output: str, **asked: str | None) -> int:
    """Of a dry run what is about the document itself.

    The API is asked, not the engine: it knows the policy in force, the sizes of clusters, and the reader's language.
    """
    found = _planned(site, hierarchy, _read(file), asked)
    odd = [one for one in found.findings if one.kind not in ("forecast", "orphans")]
    if output in ("text", "github"):
        click.echo(outputs.lines(str(file), odd), nl=False)
    _tell_program(output, file, found, odd)
    return found.code if found.problem else SAME


@click.command(help=_("Publish the document in FILE. Publishing the same document again changes nothing."))
@_hierarchy
@_file
@_format
@_subtree
@_fail_on
@click.option("--reason", required=True, help=_("Reason, shown with the revision."))
@click.option("--if-match", help=_("The ETag that plan printed. Fails if another tree was published since."))
@click.option("--create", is_flag=True, help=_("Create the hierarchy if it does not exist."))
@click.option("--allow-orphans", is_flag=True, help=_("Publish even if pods would belong to no queue."))
@click.option(
    "--change-format", is_flag=True, help=_("Publish even if the current tree came from a document of another format.")
)
@click.pass_obj
def apply(
    site: Site,
    /,
    hierarchy: str,
    file: Path,
    reason: str,
    if_match: str | None,
    create: bool,
    allow_orphans: bool,
    change_format: bool,
    **asked: str | None,
) -> int:
    """Publish it over the tree that was read, and no other."""
    body, etag = _read(file), _quoted(if_match) if if_match else _in_force(site, hierarchy)
    given = {"allow_orphans": allow_orphans, "change_format": change_format}
    asked |= {"reason": reason} | {name: "true" for name, on in given.items() if on}
    if not etag and not create:
        raise Trouble(_missing(site, hierarchy))
    headers = {"If-Match": etag} if etag else {"If-None-Match": "*"}
    try:
        answer = _put(site, hierarchy, body, headers, asked)
    except Refused as refused:
        click.echo(outputs.refusal(refused, str(file)), nl=False, err=True)
        return LIMITS if _is_ruled_out(refused) else 1
    result = answer.body
    said = _("%(tree)s: revision %(n)d is now the published tree.") if result["changed"] else _("%(tree)s: no changes.")
    _tell_changes([row["sentence"] for row in result["changes"]])
    click.echo(said % {"tree": hierarchy, "n": result["revision"]})
    return SAME


@click.command(
    help=_(
        "Show how WHAT, a file or a revision number, differs from the published tree. With OTHER, show "
        "the changes from revision WHAT to revision OTHER."
    )
)
@_hierarchy
@click.argument("what")
@click.argument("other", type=click.IntRange(min=1), required=False)
@_format
@click.pass_obj
def diff(site: Site, /, hierarchy: str, what: str, other: int | None, **asked: str | None) -> int:
    """A plan's changes alone, or what lies between two revisions."""
    if other is not None:
        return _between(site, hierarchy, what, other)
    body = _revision(site, hierarchy, what) if what.isdecimal() else _read(Path(what))
    found = _planned(site, hierarchy, body, asked)
    if found.result is None:
        click.echo(outputs.lines(what, found.findings), nl=False, err=True)
    _tell_changes(found.changes)
    return found.code


def _between(site: Site, hierarchy: str, one: str, other: int) -> int:
    if not one.isdecimal():
        raise click.UsageError(_("If you give two arguments, both must be revision numbers."))
    rows = site.get("hierarchies", hierarchy, "revisions", str(other), "diff", base_revision=one).body["changes"]
    _tell_changes([row["sentence"] for row in rows])
    return CHANGES if rows else SAME


def _tell_changes(changes: Sequence[str]) -> None:
    click.echo("".join(f"{outputs.plain(change)}\n" for change in changes), nl=False)


@click.command(help=_("Write the published tree to the standard output."))
@_hierarchy
@click.option(
    "--format", "form", type=click.Choice(_FORMS), help=_("Default: the format that the tree was imported from.")
)
@click.pass_obj
def export(site: Site, /, hierarchy: str, form: str | None) -> int:
    """As YAML of any format, or as the JSON that the API takes."""
    path = ("hierarchies", hierarchy, "tree")
    if form == "json":
        click.echo(json.dumps(site.get(*path).body, indent=2, ensure_ascii=False))
    else:
        click.echo(site.get(*path, accept="application/yaml", format=form).text, nl=False)
    return SAME


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": file, "why": error.strerror}) from error


def _revision(site: Site, hierarchy: str, number: str) -> bytes:
    return json.dumps(site.get("hierarchies", hierarchy, "revisions", number).body["tree"]).encode()


def _put(site: Site, hierarchy: str, body: bytes, headers: dict[str, str], asked: dict[str, str | None]) -> Any:
    kind = {"Content-Type": "application/json" if _is_own_form(body) else "application/yaml"}
    ruled_out = [word.strip() for word in (asked.get("fail_on") or "").split(",") if word.strip()]
    query = {**asked, "fail_on": ruled_out}
    return site.put("hierarchies", hierarchy, "tree", body=body, headers={**kind, **headers}, **query)


def _is_own_form(body: bytes) -> bool:
    """Kueue's objects may be JSON, too; as such they are YAML."""
    try:
        document = json.loads(body)
    except ValueError:
        return False
    return isinstance(document, dict) and "queues" in document


def _planned(site: Site, hierarchy: str, body: bytes, asked: dict[str, str | None]) -> Plan:
    """A dry run. Raises Trouble where it is not the document that is wrong."""
    try:
        answer = _put(site, hierarchy, body, {}, {**asked, "dry_run": "true"})
    except Refused as refused:
        if not refused.of_document:
            raise
        result = refused.problem.get("result") if _is_ruled_out(refused) else None
        return Plan(result, dict(refused.problem), "")
    return Plan(answer.body, None, answer.etag)


def _is_ruled_out(refused: Refused) -> bool:
    return refused.status == RULED_OUT and "result" in refused.problem


def _in_force(site: Site, hierarchy: str) -> str:
    """Its ETag; empty: there is none."""
    try:
        return site.get("hierarchies", hierarchy, "tree").etag
    except Refused as refused:
        if refused.status == _NOT_FOUND:
            return ""
        raise


def _missing(site: Site, hierarchy: str) -> str:
    """There is none of that name, and which may have been meant: of a tree that no cluster uses nobody would hear."""
    known = [str(one["name"]) for one in site.get("hierarchies").body["results"]]
    near = get_close_matches(hierarchy, known, 1)
    if near:
        return _("The hierarchy %(name)s does not exist. Did you mean %(near)s? To create %(name)s, use --create.") % {
            "name": hierarchy,
            "near": near[0],
        }
    return _("The hierarchy %(name)s does not exist. To create it, use --create.") % {"name": hierarchy}


def _quoted(etag: str) -> str:
    return etag if etag.startswith(('"', "W/", "*")) else f'"{etag}"'


def _tell_plan(hierarchy: str, file: Path, found: Plan) -> None:
    if found.result is not None and not found.result["changed"]:
        click.echo(_("%s: no changes.") % hierarchy)
    _tell_changes(found.changes)
    click.echo(outputs.lines(str(file), found.findings), nl=False, err=found.result is None)
    if found.result is not None and found.etag:
        click.echo(
            _(
                "The ETag of the published tree is %s. Pass it to apply with --if-match: then apply "
                "fails if another tree was published since."
            )
            % found.etag.strip('"')
        )


def _tell_program(output: str, file: Path, found: Plan, findings: Sequence[Finding] | None = None) -> None:
    told = found.findings if findings is None else findings
    if output == "json":
        document = {**(found.result or {}), "etag": found.etag} if found.problem is None else found.problem
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif output == "junit":
        click.echo(outputs.junit(str(file), told), nl=False)
    elif output == "github":
        click.echo(outputs.annotations(str(file), told), nl=False)
