"""Orders about decisions: what was decided, and why one pod was preempted or waits."""

import json
from collections.abc import Mapping
from typing import Any

import click

from scheduler_admin_client.outputs import plain
from scheduler_admin_client.site import Site
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


@click.command(help=_("List the decisions of CLUSTER, newest first. All filters that are given must hold."))
@click.argument("cluster")
@_filters
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def history(site: Site, /, cluster: str, limit: int, output: str, **filters: str | None) -> int:
    """One a line; as JSON, a document a line."""
    for row in site.pages("clusters", cluster, "decisions", limit=limit, **filters):
        click.echo(json.dumps(row, ensure_ascii=False) if output == "json" else plain(_line(row)))
    return 0


def _line(row: Mapping[str, Any]) -> str:
    ask, victims = row["ask"], row["victims"]
    name = f"{ask['namespace']}/{ask['name']}" if ask["name"] else ask["queue"] or "-"
    took = ngettext("%d victim", "%d victims", len(victims)) % len(victims)
    return "  ".join(
        [row["first_seen"], str(row["id"]), row["outcome"], name, row["reason"], row["node"] or "-", took, row["state"]]
    )


@click.command(help=_("Say why the pod NAMESPACE/POD was preempted, or why it waits."))
@click.argument("pod", metavar="NAMESPACE/POD")
@click.option("--cluster", required=True)
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def why(site: Site, /, pod: str, cluster: str, output: str) -> int:
    """What the pod's page says: a sentence, then the numbers."""
    namespace, slash, name = pod.partition("/")
    if not (namespace and slash and name):
        raise click.UsageError(_("Name the pod as NAMESPACE/POD."))
    found = site.get("clusters", cluster, "pods", namespace, name).body
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if output == "json" else plain(_told(found)))
    return 0


def _told(found: Mapping[str, Any]) -> str:
    pod = found["pod"]
    parts = [pod["sentence"], *pod["because"], _asked(pod)]
    parts += [_standing(pod["queue"], lane) for lane in pod["standing"]]
    parts += [f"- {sentence}" for sentence in pod["prevention"]]
    parts += [f"{step['at']}  {step['text']}" for step in pod["happened"]]
    return "\n".join([*parts, *pod["meant"]])


def _asked(pod: Mapping[str, Any]) -> str:
    requests = ", ".join(f"{resource} {amount}" for resource, amount in pod["requests"].items())
    said = _("%(pod)s of queue %(queue)s asked for %(requests)s (decision %(id)d).")
    name = f"{pod['namespace']}/{pod['name']}"
    return said % {"pod": name, "queue": pod["queue"], "requests": requests, "id": pod["decision"]}


def _standing(queue: str, lane: Mapping[str, Any]) -> str:
    used = f"{lane['before']} → {lane['after']}" if lane["after"] else lane["before"]
    limits = {"guaranteed": lane["guaranteed"] or "–", "max": lane["max"] or "–"}
    said = _("%(queue)s: %(resource)s %(used)s, guaranteed %(guaranteed)s, max %(max)s.")
    return said % {"queue": queue, "resource": lane["resource"], "used": used, **limits}
