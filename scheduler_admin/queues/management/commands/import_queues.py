"""Publish a queue tree from a file: ``manage.py import_queues NAME FILE --reason WHY``."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from engine.formats.registry import Format
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.queues.services.hierarchies import OrphansError
from scheduler_admin.queues.services.imports import import_tree


class Command(BaseCommand):
    help = "Publish a queue tree from a file in any supported format as the next revision of a hierarchy."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("hierarchy", help="Name of the hierarchy. It is created if it does not exist.")
        parser.add_argument("file", help="File with the queue tree, such as queues.yaml or Kueue objects.")
        parser.add_argument(
            "--format", choices=list(Format), help="Format of the file. Default: detected automatically."
        )
        parser.add_argument("--reason", required=True, help="Reason, shown with the revision.")
        parser.add_argument(
            "--allow-orphans", action="store_true", help="Publish even if pods would belong to no queue."
        )
        parser.add_argument(
            "--change-format",
            action="store_true",
            help="Publish even if the current tree came from a document of another format.",
        )
        parser.add_argument("--user", help="Author of the revision. Default: system.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            text = Path(options["file"]).read_text(encoding="utf-8")
            author = User.objects.get(username=options["user"]) if options["user"] else None
            revision, notes = import_tree(
                hierarchy=options["hierarchy"],
                text=text,
                author=author,
                reason=options["reason"],
                form=Format(options["format"]) if options["format"] else None,
                allow_orphans=options["allow_orphans"],
                change_format=options["change_format"],
            )
        except User.DoesNotExist as error:
            raise CommandError(f"User {options['user']} does not exist.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be read: {error}") from error
        except ImportFailure as failure:
            raise CommandError("\n".join(str(note) for note in failure.notes)) from failure
        except OrphansError as error:
            raise CommandError(f"{error} To publish anyway, use --allow-orphans.") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        for note in notes:
            self.stdout.write(f"{note.severity}: {note}")
        self.stdout.write(f"{revision.hierarchy}: revision {revision.number} is now the published tree.")
