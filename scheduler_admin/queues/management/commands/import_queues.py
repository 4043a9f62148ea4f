"""Publish a tree from a document: ``manage.py import_queues NAME FILE --reason WHY``."""

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
    help = "Publish a document with a tree, of any known format, as the next revision of a hierarchy."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("hierarchy", help="its name; made when there is none")
        parser.add_argument("file", help="queues.yaml, Kueue's objects, ...")
        parser.add_argument("--format", choices=list(Format), help="default: what its words tell")
        parser.add_argument("--reason", required=True, help="why, for those who read the revisions later")
        parser.add_argument("--allow-orphans", action="store_true", help="also where pods would belong to no queue")
        parser.add_argument(
            "--change-format", action="store_true", help="also where the tree came from a document of another format"
        )
        parser.add_argument("--user", help="who publishes; default: system")

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
            raise CommandError(f"There is no user {options['user']}.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} can't be read: {error}") from error
        except ImportFailure as failure:
            raise CommandError("\n".join(str(note) for note in failure.notes)) from failure
        except OrphansError as error:
            raise CommandError(f"{error} With --allow-orphans it is published all the same.") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        for note in notes:
            self.stdout.write(f"{note.severity}: {note}")
        self.stdout.write(f"{revision.hierarchy}: revision {revision.number} is published and in force.")
