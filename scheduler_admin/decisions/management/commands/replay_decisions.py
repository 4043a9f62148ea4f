"""Replay stored decisions: ``manage.py replay_decisions --cluster NAME --since 2026-11-01``."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from engine.planning.journal import JournalError
from engine.policies import UnknownPolicyError
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import each_replayed, replayable

_BETWEEN_S = 1.0
"""Seconds between two progress messages."""


class Command(BaseCommand):
    """Replay stored decisions."""

    help = "Replay stored decisions from the journal and list those that differ. Exits with 1 if any differs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the filters of decisions."""
        parser.add_argument("--cluster", help="Replay only decisions of this cluster.")
        parser.add_argument(
            "--since",
            type=_time,
            help="Replay only decisions since this date or time, such as 2026-11-01 or 2026-11-01T12:00.",
        )
        parser.add_argument("--limit", type=_count, help="Replay only this many decisions, the newest.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line per decision that differs, then the totals."""
        del args
        rows = _chosen(options["cluster"], options["since"], options["limit"])
        total, available = rows.count(), replayable(rows).count()
        checked = differing = 0
        try:
            for row, document in self._with_progress(each_replayed(rows), available):
                checked += 1
                if document != row.document.encode():
                    differing += 1
                    self.stdout.write(f"Decision {row.pk} of cluster {row.cluster} differs from its replay.")
        except (JournalError, UnknownPolicyError) as error:
            raise CommandError(f"The replay stopped after {checked} decisions: {error}") from error
        skipped = f" {total - checked} decisions could not be replayed." if total > checked else ""
        if differing:
            raise CommandError(f"{differing} of {checked} decisions differ from their replay.{skipped}")
        self.stdout.write(f"{checked} decisions are identical to their replay.{skipped}")

    def _with_progress(self, pairs: Iterator[tuple[Decision, bytes]], total: int) -> Iterator[tuple[Decision, bytes]]:
        reported = time.monotonic()
        for done, pair in enumerate(pairs, 1):
            yield pair
            if time.monotonic() - reported > _BETWEEN_S:
                reported = time.monotonic()
                self.stderr.write(f"Replayed {done} of {total} decisions.")


def _chosen(cluster: str | None, since: datetime | None, limit: int | None) -> QuerySet[Decision]:
    """Return the engine's decisions that match the filters; observed decisions can't be replayed."""
    rows = Decision.objects.filter(source=Decision.Source.ENGINE)
    if cluster is not None:
        if not Cluster.objects.filter(name=cluster).exists():
            raise CommandError(f"Cluster {cluster} does not exist.")
        rows = rows.filter(cluster__name=cluster)
    if since is not None:
        rows = rows.filter(last_seen__gte=since)
    if limit is not None:
        rows = Decision.objects.filter(pk__in=rows.order_by("-pk").values("pk")[:limit])
    return rows


def _time(text: str) -> datetime:
    """Return a date or time; without an offset it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not a time. Use the format 2026-11-01 or 2026-11-01T12:00.") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a number of decisions. Use a whole number from 1.")
    return int(text)
