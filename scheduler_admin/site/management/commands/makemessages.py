"""Django's makemessages, extended to find plural messages that are marked with ``ngettext_noop``."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Collect messages for translation, also those marked with ``ngettext_noop``."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=ngettext_noop:1,2"]
