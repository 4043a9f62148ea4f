"""Writes of comparisons: begin one, stop it, end those whose worker is gone, drop old ones."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import name_of, record
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons.models import OPEN, Comparison
from scheduler_admin.comparisons.sides import Chosen, kept
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.journal import recorded_since
from scheduler_admin.queues.models import Revision

LONGEST = timedelta(hours=24)
SHORTEST = timedelta(minutes=1)
OPEN_EACH, OPEN_ALL = 2, 10
"""Comparisons that may wait or run: of one person, of all."""
KEPT, KEPT_FOR = 200, timedelta(days=30)
SILENT = timedelta(minutes=1)
"""A worker tells of itself every second; after so long it is gone."""
KILLED = gettext_noop("The worker stopped before the comparison was done. Start it again.")


@transaction.atomic
def start(
    *,
    cluster: Cluster,
    author: User,
    since: datetime | None,
    until: datetime | None,
    sides: Iterable[Chosen],
    snapshot: SavedSnapshot | None = None,
) -> Comparison:
    """Let sides be compared on the time from ``since`` to ``until``, or on one moment: the newest without ``since``.

    ``snapshot``: on that one instead. Raises ValidationError, also where too many wait or run already.
    """
    now = timezone.now()
    _check_room(author)
    if snapshot is None:
        _check_time(cluster, since, until, now)
    else:
        since, until = snapshot.at, None
    begins = since or now
    made = Comparison(
        cluster=cluster,
        author=author,
        author_name=name_of(author),
        created_at=now,
        since=begins,
        until=until,
        snapshot=snapshot,
        of_snapshot=snapshot.name if snapshot else "",
        sides=kept(author, cluster, sides),
        measure=_in_force(cluster, begins),
    )
    made.full_clean()
    made.save()
    record(actor=author, verb="comparison.start", target=str(made), details={"sides": len(made.sides)})
    return made


def _check_room(author: User) -> None:
    rows = Comparison.objects.filter(state__in=OPEN)
    if rows.filter(author=author).count() >= OPEN_EACH:
        raise ValidationError(
            _("You already have two comparisons waiting or running. Stop one, or wait until one ends.")
        )
    if rows.count() >= OPEN_ALL:
        raise ValidationError(_("Too many comparisons are waiting. Try again later."))


def _check_time(cluster: Cluster, since: datetime | None, until: datetime | None, now: datetime) -> None:
    first = recorded_since(cluster)
    if first is None:
        raise ValidationError({"since": _("Nothing has been recorded for this cluster yet.")})
    if since is not None and since > now:
        raise ValidationError({"since": _("This time is in the future. Enter a past time.")})
    if since is not None and until is None and since < first:
        raise ValidationError({"since": _("This time is earlier than the oldest stored record. Enter a later time.")})
    if until is None:
        return
    if since is None:
        raise ValidationError({"since": _("Enter a start time.")})
    if until > now:
        raise ValidationError({"until": _("This time is in the future. Enter a past time.")})
    if until <= first:
        raise ValidationError({"until": _("This time is earlier than the oldest stored record. Enter a later time.")})
    if until - since < SHORTEST:
        raise ValidationError({"until": _("The period must be at least 1 minute.")})
    if until - since > LONGEST:
        raise ValidationError({"until": _("The period can be at most 24 hours.")})


def _in_force(cluster: Cluster, at: datetime) -> str:
    """The tree in force at a time, or else the first one."""
    rows = Revision.objects.filter(hierarchy=cluster.hierarchy)
    found = rows.filter(published_at__lte=at).order_by("-number").first() or rows.order_by("number").first()
    return found.document if found else ""


@transaction.atomic
def stop(*, comparison: Comparison, actor: User) -> bool:
    """End one that waits or runs; its worker sees it within a second. Whether it was still open."""
    rows = Comparison.objects.filter(pk=comparison.pk, state__in=OPEN)
    stopped = rows.update(state=Comparison.State.STOPPED, ended_at=timezone.now()) == 1
    if stopped:
        record(actor=actor, verb="comparison.stop", target=str(comparison))
    return stopped


@transaction.atomic
def delete(*, comparison: Comparison, actor: User) -> None:
    """Delete a comparison with its result; its worker sees within a second that it is gone."""
    record(actor=actor, verb="comparison.delete", target=str(comparison))
    comparison.delete()


def tidy(*, now: datetime) -> None:
    """Say so where a worker is gone, and drop what is old."""
    running = Comparison.objects.filter(state=Comparison.State.RUNNING, seen_at__lt=now - SILENT)
    running.update(state=Comparison.State.FAILED, ended_at=now, trouble=KILLED)
    ended = Comparison.objects.exclude(state__in=OPEN)
    ended.filter(created_at__lt=now - KEPT_FOR).delete()
    beyond = list(ended.order_by("-pk").values_list("pk", flat=True)[KEPT:])
    if beyond:
        Comparison.objects.filter(pk__in=beyond).delete()
