"""What the API says of a document before it is published: a plan, its summary, and the file that hands it to apply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from scheduler_admin_client.documents import digest, headers, write
from scheduler_admin_client.findings import Finding, of_problem, of_result
from scheduler_admin_client.site import RULED_OUT, Refused, Site, Trouble
from scheduler_admin_client.words import _, ngettext

SAME, CHANGES, LIMITS = 0, 2, 3
_NOT_FOUND = 404
_FORMAT = 1
"""The version of a plan file. Another one is refused, since what it means is not known."""


@dataclass(frozen=True)
class Plan:
    """What the API says of a document: a result, or a problem."""

    result: dict[str, Any] | None
    problem: dict[str, Any] | None
    etag: str
    missing: str = ""
    """A sentence where the hierarchy does not exist yet."""

    @property
    def findings(self) -> list[Finding]:
        """All that is said of it, beside the changes."""
        new = [Finding("document", "", "warning", self.missing)] if self.missing else []
        if self.result is None:
            return [*new, *of_problem(self.problem or {})]
        return [*new, *of_result(self.result, (self.problem or {}).get("errors", []))]

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


def summary(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a plan, over all clusters that use the hierarchy."""
    rows = result["forecasts"]
    known = [row["forecast"] for row in rows if row["forecast"]]
    lost = [row["orphans"] for row in rows if row["orphans"]]
    return {
        "changed": result["changed"],
        "changes": len(result["changes"]),
        "caused_evictions": sum(one["caused_evictions"]["pods"] for one in known),
        "orphans": sum(one["running_pods"] + one["pending_pods"] for one in lost),
        "clusters": len(rows),
        "clusters_without_forecast": len(rows) - len(known),
    }


def sentence(hierarchy: str, result: Mapping[str, Any]) -> str:
    """Return the numbers of a plan in one line."""
    numbers = summary(result)
    changes, pods, lost = numbers["changes"], numbers["caused_evictions"], numbers["orphans"]
    parts = [
        ngettext("%d change", "%d changes", changes) % changes,
        ngettext("%d pod preempted because of it", "%d pods preempted because of it", pods) % pods,
        ngettext("%d pod without a queue", "%d pods without a queue", lost) % lost,
    ]
    if unknown := numbers["clusters_without_forecast"]:
        parts.append(ngettext("%d cluster without a forecast", "%d clusters without a forecast", unknown) % unknown)
    if not numbers["clusters"]:
        parts.append(_("no cluster uses this hierarchy"))
    return _("%(tree)s: %(numbers)s.") % {"tree": hierarchy, "numbers": _(", ").join(parts)}


@dataclass(frozen=True)
class PlanFile:
    """Which document was planned for which tree: what apply needs to publish that, and nothing else."""

    site: str
    hierarchy: str
    etag: str
    """Of the tree that was published then; empty if there was none."""
    document_sha256: str
    format: str | None
    subtree: str | None

    def write(self, path: Path, result: Mapping[str, Any]) -> None:
        """Write it with what the API said. Raises Trouble."""
        content = {"scheduler_admin_plan": _FORMAT, **vars(self), "summary": summary(result), "result": result}
        write(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> PlanFile:
        """Read what was written. Raises Trouble."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["scheduler_admin_plan"] == _FORMAT:
                return cls(**{name: found[name] for name in cls.__dataclass_fields__})
        except OSError as error:
            raise Trouble(_("%(file)s cannot be read: %(why)s.") % {"file": path, "why": error.strerror}) from error
        except (ValueError, TypeError, KeyError):
            pass
        raise Trouble(_("%s is not a plan of this version of scheduler-admin.") % path)

    def check(self, other: PlanFile) -> None:
        """Compare it with what is to be published now. Raises Trouble if something differs beside the tree's ETag."""
        if (self.site, self.hierarchy) != (other.site, other.hierarchy):
            place = {"tree": self.hierarchy, "site": self.site}
            raise Trouble(_("The plan is for %(tree)s at %(site)s. Plan again.") % place)
        if (self.document_sha256, self.subtree, self.format) != (other.document_sha256, other.subtree, other.format):
            raise Trouble(_("The document is not the one that was planned. Plan again."))


def planned_tree(site: Site, hierarchy: str, body: bytes, asked: dict[str, Any]) -> Plan:
    """Ask the site for a dry run. Raises Refused where it is not the document that is wrong."""
    try:
        answer = site.plan("hierarchies", hierarchy, "tree", body=body, headers=headers(body), **asked)
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
    return PlanFile(site.address, hierarchy, etag, digest(body), asked["format"], asked["subtree"])


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
