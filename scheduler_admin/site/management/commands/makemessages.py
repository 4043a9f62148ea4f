"""Django's makemessages, which also finds the counted sentences that are only marked where they stand."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Knows ``ngettext_noop`` too."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=ngettext_noop:1,2"]
