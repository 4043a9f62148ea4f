"""Orders about decisions: what was decided."""

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
