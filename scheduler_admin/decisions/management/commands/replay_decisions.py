"""Decide stored decisions again: ``manage.py replay_decisions --cluster NAME --since 2026-11-01``."""

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
"""Seconds from one word on how far it is to the next."""


class Command(BaseCommand):
    """Replays."""

    help = "Replay stored decisions from the journal and say which come out otherwise; ends with 1 if any does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which decisions."""
        parser.add_argument("--cluster", help="only this one's")
        parser.add_argument("--since", type=_time, help="only those decided since then, as 2026-11-01 or with a time")
        parser.add_argument("--limit", type=_count, help="only so many, the newest")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each that differs, then the sum."""
        del args
        rows = _chosen(options["cluster"], options["since"], options["limit"])
        total, there = rows.count(), replayable(rows).count()
        checked = differing = 0
        try:
            for row, document in self._telling(each_replayed(rows), there):
                checked += 1
                if document != row.document.encode():
                    differing += 1
                    self.stdout.write(f"decision {row.pk} of cluster {row.cluster} comes out otherwise")
        except (JournalError, UnknownPolicyError) as error:
            raise CommandError(f"after {checked} decisions: {error}") from error
        lost = f"; {total - checked} can't, or can no longer, be replayed" if total > checked else ""
        if differing:
            raise CommandError(f"{differing} of {checked} decisions come out otherwise{lost}")
        self.stdout.write(f"{checked} decisions come out the same, to the byte{lost}")

    def _telling(self, pairs: Iterator[tuple[Decision, bytes]], total: int) -> Iterator[tuple[Decision, bytes]]:
        told = time.monotonic()
        for done, pair in enumerate(pairs, 1):
            yield pair
            if time.monotonic() - told > _BETWEEN_S:
                told = time.monotonic()
                self.stderr.write(f"{done} of {total}")


def _chosen(cluster: str | None, since: datetime | None, limit: int | None) -> QuerySet[Decision]:
    """The engine's own decisions that are asked for; others were observed, and have nothing to replay."""
    rows = Decision.objects.filter(source=Decision.Source.ENGINE)
    if cluster is not None:
        if not Cluster.objects.filter(name=cluster).exists():
            raise CommandError(f"There is no cluster {cluster}.")
        rows = rows.filter(cluster__name=cluster)
    if since is not None:
        rows = rows.filter(last_seen__gte=since)
    if limit is not None:
        rows = Decision.objects.filter(pk__in=rows.order_by("-pk").values("pk")[:limit])
    return rows


def _time(text: str) -> datetime:
    """A day or a time; without an offset it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not a time; write 2026-11-01 or 2026-11-01T12:00") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a number of decisions")
    return int(text)
