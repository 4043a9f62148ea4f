"""``scheduler-admin``: what a pipeline, or a person at a terminal, asks of the REST API.

Exit code: 0 done, or no change; 1 it could not be done; 2 a plan that changes something; 3 what ``--fail-on``
rules out.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
import urllib3

from scheduler_admin_client import __version__
from scheduler_admin_client.decisions import history, why
from scheduler_admin_client.objects import commands as objects
from scheduler_admin_client.outputs import refusal
from scheduler_admin_client.site import Refused, Site, Trouble
from scheduler_admin_client.tokens import find_token
from scheduler_admin_client.transport import Transport, pool_for
from scheduler_admin_client.trees import apply, diff, export, lint, plan
from scheduler_admin_client.words import _

TROUBLE, INTERRUPTED = 1, 130


class OrObjects(click.Command):
    """A command about a tree, in whose place another one runs for the objects of files: with ``-f``, as in kubectl."""

    objects: click.Command

    @classmethod
    def of(cls, tree: click.Command, objects: click.Command) -> OrObjects:
        """Return the command for both."""
        epilog = (
            _("With -f FILE, it is about tenants and notification channels instead: see %s -f - --help.") % tree.name
        )
        made = cls(tree.name, callback=tree.callback, params=tree.params, help=tree.help, epilog=epilog)
        made.objects = objects
        return made

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the command that the arguments are for."""
        if any(each.startswith("--filename") or re.match(r"-f(?!ail)", each) for each in args):
            return self.objects.make_context(info_name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.group(help=_("Work with queue trees and decisions in Scheduler Admin through its REST API."))
@click.option(
    "--site", "address", envvar="SCHEDULER_ADMIN_URL", help=_("Address of the site. Default: $SCHEDULER_ADMIN_URL.")
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help=_("File that contains an API token. Default: $SCHEDULER_ADMIN_TOKEN, or an ID token of the CI platform."),
)
@click.version_option(__version__, package_name="scheduler-admin-client", message="%(package)s %(version)s")
@click.pass_context
def cli(context: click.Context, address: str | None, token_file: Path | None) -> None:
    """All orders share where the site is, and the token; none is needed to read the help of an order."""
    if os.environ.get("NO_COLOR"):
        context.color = False
    context.obj = partial(_site, address, token_file)


for _command in (
    OrObjects.of(plan, objects.plan),
    OrObjects.of(apply, objects.apply),
    diff,
    lint,
    export,
    history,
    why,
):
    cli.add_command(_command)


def _site(address: str | None, token_file: Path | None) -> Site:
    if not address:
        raise click.UsageError(_("Specify the address of the site with --site or SCHEDULER_ADMIN_URL."))
    if not address.startswith(("https://", "http://")):
        raise click.UsageError(_("The address of the site must start with https://."))
    token = find_token(token_file, address.rstrip("/"))
    try:
        pool = pool_for(address)
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise click.UsageError(_("The address of the proxy in the environment is not valid.")) from error
    return Site(address.rstrip("/"), token, Transport(pool, report=_report))


def _report(status: int, seconds: float) -> None:
    said = _("The server is busy (status %(status)d). Next try in %(seconds)d s.")
    click.echo(said % {"status": status, "seconds": round(seconds)}, err=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and say with what code to exit."""
    try:
        return int(cli.main(arguments, prog_name="scheduler-admin", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
    except Refused as error:
        click.echo(refusal(error), nl=False, err=True)
    except Trouble as error:
        click.echo(str(error), err=True)
    except click.Abort:
        return INTERRUPTED
    except BrokenPipeError:  # `| head` has seen enough
        sys.stderr.close()
    return TROUBLE
