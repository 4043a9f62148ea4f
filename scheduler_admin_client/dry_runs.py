"""Dry runs of trees: what is asked of the site before it may change anything."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from scheduler_admin_client import documents
from scheduler_admin_client.plans import Plan, PlanFile
from scheduler_admin_client.site import RULED_OUT, Refused, Site
from scheduler_admin_client.words import _

_NOT_FOUND = 404


def planned_tree(site: Site, hierarchy: str, body: bytes, asked: dict[str, Any]) -> Plan:
    """Ask the site for a dry run. Raises Refused where it is not the document that is wrong."""
    try:
        answer = site.plan("hierarchies", hierarchy, "tree", body=body, headers=documents.headers(body), **asked)
    except Refused as refused:
        if not refused.of_document:
            raise
        result = refused.problem.get("result") if is_ruled_out(refused) else None
        missing = missing_hierarchy(site, hierarchy) if result and not refused.etag else ""
        return Plan(result, dict(refused.problem), "", missing)
    return Plan(answer.body, None, answer.etag, "" if answer.etag else missing_hierarchy(site, hierarchy))


def is_ruled_out(refused: Refused) -> bool:
    """Tell whether a tree was rejected only because of --fail-on."""
    return refused.status == RULED_OUT and "result" in refused.problem


def plan_file(site: Site, hierarchy: str, body: bytes, asked: dict[str, Any], etag: str) -> PlanFile:
    """Return what a plan of a document is a plan of."""
    return PlanFile(site.address, hierarchy, etag, documents.digest(body), asked["format"], asked["subtree"])


def precondition(site: Site, wanted: PlanFile, planned: Path | None) -> str:
    """Return the ETag of the tree to replace, empty if there is none. Raises Trouble for a plan of something else."""
    if planned is None:
        return wanted.etag or _published_etag(site, wanted.hierarchy)
    saved = PlanFile.read(planned)
    saved.check(wanted)
    if wanted.etag and wanted.etag != saved.etag:
        raise click.UsageError(_("Use --plan or --if-match, not both."))
    return saved.etag


def _published_etag(site: Site, hierarchy: str) -> str:
    """Return the ETag of the published tree, empty if there is none."""
    try:
        return site.get("hierarchies", hierarchy, "tree").etag
    except Refused as refused:
        if refused.status == _NOT_FOUND:
            return ""
        raise


def missing_hierarchy(site: Site, hierarchy: str) -> str:
    """Return that a hierarchy does not exist, and which one may be meant.

    Nobody would notice a tree that no cluster uses.
    """
    known = [str(one["name"]) for one in site.get("hierarchies").body["results"]]
    near = get_close_matches(hierarchy, known, 1)
    if near:
        return _("The hierarchy %(name)s does not exist. Did you mean %(near)s? To create %(name)s, use --create.") % {
            "name": hierarchy,
            "near": near[0],
        }
    return _("The hierarchy %(name)s does not exist. To create it, use --create.") % {"name": hierarchy}


def revision_document(site: Site, hierarchy: str, number: str) -> bytes:
    """Return the tree of a revision as the document that publishes it."""
    return json.dumps(site.get("hierarchies", hierarchy, "revisions", number).body["tree"]).encode()
