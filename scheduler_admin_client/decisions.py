"""Orders about decisions: what was decided, and why one pod was preempted or waits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from scheduler_admin_client.outputs import plain
from scheduler_admin_client.site import Site, pass_site
from scheduler_admin_client.words import _, ngettext

_FILTERS = (
    *("since", "until", "queue", "namespace", "application", "priority-class", "node"),
    *("source", "outcome", "state", "ending"),
)


def _filters(command: Any) -> Any:
    """An option for each filter of the API, which says itself what a value may be."""
    for name in reversed(_FILTERS):
        command = click.option(f"--{name}")(command)
    return command


@click.command(help=_("List the decisions of CLUSTER, newest first. Only decisions that match all filters are listed."))
@click.argument("cluster")
@_filters
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pass_site
def history(site: Site, /, cluster: str, limit: int, output: str, **filters: str | None) -> int:
    """One a line; as JSON, a document a line."""
    for row in site.pages("clusters", cluster, "decisions", limit=limit, **filters):
        click.echo(json.dumps(row, ensure_ascii=False) if output == "json" else plain(_line(row)))
    return 0


def _line(row: Mapping[str, Any]) -> str:
    pod, victims = row["pending_pod"], row["victims"]
    name = f"{pod['namespace']}/{pod['name']}" if pod["name"] else pod["queue"] or "-"
    took = ngettext("%d victim", "%d victims", len(victims)) % len(victims)
    return "  ".join(
        [row["decided_at"], str(row["id"]), row["outcome"], name, row["reason"], row["node"] or "-", took, row["state"]]
    )


@click.command(help=_("Explain why the pod NAMESPACE/POD was preempted or why it is pending."))
@click.argument("pod", metavar="NAMESPACE/POD")
@click.option("--cluster", required=True)
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pass_site
def why(site: Site, /, pod: str, cluster: str, output: str) -> int:
    """What the pod's page says: a sentence, then the numbers."""
    namespace, slash, name = pod.partition("/")
    if not (namespace and slash and name):
        raise click.UsageError(_("Specify the pod as NAMESPACE/POD."))
    found = site.get("clusters", cluster, "pods", namespace, name).body
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if output == "json" else plain(_told(found)))
    return 0


def _told(found: Mapping[str, Any]) -> str:
    pod = found["pod"]
    parts = [pod["sentence"], *pod["explanations"], _asked(pod)]
    parts += [_usage(pod["queue"], one) for one in pod["queue_usage"]]
    parts += [f"- {sentence}" for sentence in pod["prevention"]]
    parts += [f"{entry['occurred_at']}  {entry['sentence']}" for entry in pod["timeline"]]
    return "\n".join([*parts, *pod["consequences"]])


def _asked(pod: Mapping[str, Any]) -> str:
    requests = ", ".join(f"{resource} {amount}" for resource, amount in pod["requests"].items())
    said = _("%(pod)s in queue %(queue)s requested %(requests)s (decision %(id)d).")
    name = f"{pod['namespace']}/{pod['name']}"
    return said % {"pod": name, "queue": pod["queue"], "requests": requests, "id": pod["decision_id"]}


def _usage(queue: str, one: Mapping[str, Any]) -> str:
    used = f"{one['used_before']} → {one['used_after']}" if one["used_after"] else one["used_before"]
    limits = {"guaranteed": one["guaranteed"] or "–", "max": one["max"] or "–"}
    said = _("%(queue)s: %(resource)s used %(used)s, guarantee %(guaranteed)s, max %(max)s.")
    return said % {"queue": queue, "resource": one["resource"], "used": used, **limits}
