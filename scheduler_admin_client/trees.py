"""Orders about trees: what a document would change, put it in force, what is odd about it, and take it out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from scheduler_admin_client import documents, outputs
from scheduler_admin_client.findings import Finding
from scheduler_admin_client.plans import (
    CHANGES,
    LIMITS,
    SAME,
    Plan,
    is_ruled_out,
    missing_hierarchy,
    plan_file,
    planned_tree,
    precondition,
    revision_document,
    sentence,
    summary,
)
from scheduler_admin_client.site import Refused, Site, Trouble, pass_site
from scheduler_admin_client.words import _

_OVERTAKEN = 412
_FORMS = ("yunikorn", "kueue", "consumers", "volcano", "kai", "scheduler-admin", "json")
_OUTPUTS = ("text", "json", "junit", "github")
Option = Callable[[Callable[..., Any]], Callable[..., Any]]

_hierarchy = click.argument("hierarchy")
_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
_format: Option = click.option(
    "--format", help=_("Format of the document, needed only if it cannot be detected: kueue.")
)
_subtree: Option = click.option("--subtree", help=_("The document contains only this queue and the queues below it."))


def _words(_context: click.Context, _option: click.Parameter, text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]


_fail_on: Option = click.option(
    "--fail-on",
    callback=_words,
    help=_(
        "Exit with code 3 if any of these is found (comma-separated): preemptions, orphans, loops, lint:warning ..."
    ),
)
_path_of_plan = click.Path(dir_okay=False, path_type=Path)
_output: Option = click.option("--output", type=click.Choice(_OUTPUTS), default="text", show_default=True)


@click.command(help=_("Show what the document in FILE would change and which pods it would preempt."))
@_hierarchy
@_file
@_format
@_subtree
@_fail_on
@_output
@click.option("--out", type=_path_of_plan, help=_("Save the plan to this file, for apply --plan."))
@click.option(
    "--junit", type=_path_of_plan, help=_("Also write the findings to this file, as test cases in JUnit's form.")
)
@pass_site
def plan(
    site: Site, /, hierarchy: str, file: Path, output: str, out: Path | None, junit: Path | None, **asked: Any
) -> int:
    """Show a dry run. A tree that --fail-on excludes leaves no plan file, because it can't be applied."""
    if out:
        out.unlink(missing_ok=True)
    body = documents.read(file)
    found = planned_tree(site, hierarchy, body, asked)
    if out and found.result and not found.problem:
        plan_file(site, hierarchy, body, asked, found.etag).write(out, found.result)
    if junit:
        documents.write(junit, outputs.junit(str(file), found.findings))
    if output in ("text", "github"):
        _tell_plan(hierarchy, file, found, out)
    _tell_program(output, file, found)
    return found.code


@click.command(help=_("Check the document in FILE for likely mistakes."))
@_hierarchy
@_file
@_format
@_subtree
@_fail_on
@_output
@pass_site
def lint(site: Site, /, hierarchy: str, file: Path, output: str, **asked: Any) -> int:
    """Of a dry run what is about the document itself.

    The API is asked, not the engine: it knows the policy in force, the sizes of clusters, and the reader's language.
    """
    found = planned_tree(site, hierarchy, documents.read(file), asked)
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
@click.option(
    "--plan", "planned", type=_path_of_plan, help=_("Publish only what this plan, saved with plan --out, shows.")
)
@click.option("--if-match", help=_("The ETag that plan printed. Fails if another tree was published since."))
@click.option("--create", is_flag=True, help=_("Create the hierarchy if it does not exist."))
@click.option("--allow-orphans", is_flag=True, help=_("Publish even if pods would belong to no queue."))
@click.option(
    "--change-format", is_flag=True, help=_("Publish even if the current tree came from a document of another format.")
)
@pass_site
def apply(
    site: Site,
    /,
    hierarchy: str,
    file: Path,
    reason: str,
    planned: Path | None,
    if_match: str | None,
    create: bool,
    allow_orphans: bool,
    change_format: bool,
    **asked: Any,
) -> int:
    """Publish it over the tree that was read, and no other."""
    body = documents.read(file)
    etag = precondition(site, plan_file(site, hierarchy, body, asked, _quoted(if_match)), planned)
    given = {"allow_orphans": allow_orphans, "change_format": change_format}
    asked |= {"reason": reason} | {name: "true" for name, on in given.items() if on}
    if not etag and not create:
        raise Trouble(missing_hierarchy(site, hierarchy))
    headers = {"If-Match": etag} if etag else {"If-None-Match": "*"}
    try:
        answer = site.put(
            "hierarchies", hierarchy, "tree", body=body, headers={**documents.headers(body), **headers}, **asked
        )
    except Refused as refused:
        click.echo(outputs.refusal(refused, str(file)), nl=False, err=True)
        if refused.status == _OVERTAKEN:
            click.echo(_("Another tree was published meanwhile. Plan again."), err=True)
        return LIMITS if is_ruled_out(refused) else 1
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
@pass_site
def diff(site: Site, /, hierarchy: str, what: str, other: int | None, **asked: Any) -> int:
    """A plan's changes alone, or what lies between two revisions."""
    if other is not None:
        return _between(site, hierarchy, what, other)
    body = revision_document(site, hierarchy, what) if what.isdecimal() else documents.read(Path(what))
    found = planned_tree(site, hierarchy, body, asked)
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
@pass_site
def export(site: Site, /, hierarchy: str, form: str | None) -> int:
    """As YAML of any format, or as the JSON that the API takes."""
    path = ("hierarchies", hierarchy, "tree")
    if form == "json":
        click.echo(json.dumps(site.get(*path).body, indent=2, ensure_ascii=False))
    else:
        click.echo(site.get(*path, accept="application/yaml", format=form).text, nl=False)
    return SAME


def _quoted(etag: str | None) -> str:
    return f'"{etag}"' if etag and not etag.startswith(('"', "W/", "*")) else etag or ""


def _tell_plan(hierarchy: str, file: Path, found: Plan, out: Path | None) -> None:
    result = found.result
    if result is None:
        click.echo(outputs.lines(str(file), found.findings), nl=False, err=True)
        return
    if not result["changed"]:
        click.echo(_("%s: no changes.") % hierarchy)
    _tell_changes(found.changes)
    click.echo(outputs.lines(str(file), found.findings), nl=False)
    click.echo(sentence(hierarchy, result))
    if out and not found.problem:
        click.echo(_("Saved the plan. To publish it and nothing else, use apply with --plan %s.") % out)
    elif found.etag:
        said = _(
            "The ETag of the published tree is %s. Pass it to apply with --if-match: then apply fails if another tree "
            "was published since."
        )
        click.echo(said % found.etag.strip('"'))


def _tell_program(output: str, file: Path, found: Plan, findings: Sequence[Finding] | None = None) -> None:
    told = found.findings if findings is None else findings
    if output == "json":
        click.echo(json.dumps(_document(found), indent=2, ensure_ascii=False))
    elif output == "junit":
        click.echo(outputs.junit(str(file), told), nl=False)
    elif output == "github":
        click.echo(outputs.github_annotations(str(file), told), nl=False)


def _document(found: Plan) -> dict[str, Any]:
    """The API's own answer; of a plan also its ETag and its numbers."""
    if found.problem is not None or found.result is None:
        return found.problem or {}
    return {**found.result, "etag": found.etag, "summary": summary(found.result)}
