"""The static files of a site that is read on the machine that serves it."""

from django.contrib.staticfiles.management.commands.collectstatic import Command
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.management import call_command


def collect() -> None:
    """Run ``collectstatic`` without compressing anything, which would take longer than all else at the start."""
    command = Command()
    command.storage = ManifestStaticFilesStorage()
    call_command(command, verbosity=0, interactive=False)
