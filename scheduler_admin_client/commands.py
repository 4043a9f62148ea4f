"""``scheduler-admin``: what a pipeline, or a person at a terminal, asks of the REST API.

Exit code: 0 done, or no change; 1 it could not be done; 2 a plan that changes something; 3 what ``--fail-on``
rules out.
"""

import os
import sys
from pathlib import Path

import click

from scheduler_admin_client.decisions import history, why
from scheduler_admin_client.outputs import refusal
from scheduler_admin_client.site import Refused, Site, Trouble
from scheduler_admin_client.trees import apply, diff, export, lint, plan
from scheduler_admin_client.words import _

TROUBLE, INTERRUPTED = 1, 130


@click.group(help=_("Work with queue trees and decisions in Scheduler Admin through its REST API."))
@click.option(
    "--site", "address", envvar="SCHEDULER_ADMIN_URL", help=_("Address of the site. Default: $SCHEDULER_ADMIN_URL.")
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help=_("File that contains an API token. Default: the token in $SCHEDULER_ADMIN_TOKEN."),
)
@click.pass_context
def cli(context: click.Context, address: str | None, token_file: Path | None) -> None:
    """All orders share where the site is, and the token."""
    if os.environ.get("NO_COLOR"):
        context.color = False
    if not address:
        raise click.UsageError(_("Specify the address of the site with --site or SCHEDULER_ADMIN_URL."))
    if not address.startswith(("https://", "http://")):
        raise click.UsageError(_("The address of the site must start with https://."))
    context.obj = Site(address, _token(token_file))


for _command in (plan, apply, diff, lint, export, history, why):
    cli.add_command(_command)


def _token(file: Path | None) -> str:
    try:
        token = file.read_text(encoding="ascii") if file else os.environ.get("SCHEDULER_ADMIN_TOKEN", "")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(_("The token cannot be read from %s.") % file) from error
    token = token.strip()
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise click.UsageError(_("Provide a token with --token-file or SCHEDULER_ADMIN_TOKEN."))
    return token


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
