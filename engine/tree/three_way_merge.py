"""Merges two sets of changes to one tree, setting by setting; what both changed is a conflict.

A queue is a flat mapping of its settings under an identity that renaming and moving leave alone, so that its name and
the identity of its parent are settings like any other.
"""

from collections.abc import Iterator, Mapping

import msgspec

Settings = Mapping[str, str]
"""Setting -> its text: ``{"name": "queue-b", "parent": "root", "max/cpu": "4"}``. A setting that is not set is
missing."""
Queues = Mapping[str, Settings]
"""Identity of a queue -> its settings."""

EXISTS = ""
"""The setting of a Conflict that is about the whole queue."""


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that both sides changed to different texts. Empty: not set; for EXISTS, the queue is missing."""

    queue: str
    """The identity of the queue."""
    setting: str = EXISTS
    base: str = ""
    theirs: str = ""
    mine: str = ""


class Merged(msgspec.Struct, frozen=True):
    """The result with all changes of both sides. In a conflict it has the text of ``mine``."""

    queues: dict[str, dict[str, str]]
    conflicts: tuple[Conflict, ...]


def merge(base: Queues, theirs: Queues, mine: Queues) -> Merged:
    """Apply to ``theirs`` what ``mine`` changed of ``base``.

    A queue that one side removed, and that the other side changed or put queues below, is a conflict; it is kept if
    anything of ``mine`` needs it.
    """
    queues: dict[str, dict[str, str]] = {}
    conflicts: list[Conflict] = []
    for identity in dict.fromkeys((*theirs, *mine, *base)):
        old, theirs_now, mine_now = base.get(identity), theirs.get(identity), mine.get(identity)
        if theirs_now is not None and mine_now is not None:
            settings, setting_conflicts = _settings(identity, old or {}, theirs_now, mine_now)
            queues[identity] = settings
            conflicts += setting_conflicts
        elif old is None:
            queues[identity] = dict(theirs_now or mine_now or {})
        elif mine_now is not None and mine_now != old:
            queues[identity] = dict(mine_now)
            conflicts.append(Conflict(queue=identity, base=_presence(old), mine=_presence(mine_now)))
        elif theirs_now is not None and theirs_now != old:
            conflicts.append(Conflict(queue=identity, base=_presence(old), theirs=_presence(theirs_now)))
    reported = {conflict.queue for conflict in conflicts if conflict.setting == EXISTS}
    conflicts += [
        parent_conflict
        for parent_conflict in _keep_parents(queues, theirs, mine)
        if parent_conflict.queue not in reported
    ]
    return Merged(queues, tuple(conflicts))


def _settings(identity: str, base: Settings, theirs: Settings, mine: Settings) -> tuple[dict[str, str], list[Conflict]]:
    """Return the merged settings of a queue that both sides have, and the conflicts."""
    merged: dict[str, str] = {}
    conflicts = []
    for setting in dict.fromkeys((*theirs, *mine, *base)):
        old, theirs_now, mine_now = (side.get(setting, "") for side in (base, theirs, mine))
        text = theirs_now if mine_now == old else mine_now
        if text:
            merged[setting] = text
        if old != theirs_now != mine_now != old:
            conflicts.append(Conflict(queue=identity, setting=setting, base=old, theirs=theirs_now, mine=mine_now))
    return merged, conflicts


def _keep_parents(queues: dict[str, dict[str, str]], theirs: Queues, mine: Queues) -> Iterator[Conflict]:
    """Put back every missing queue that is the parent of an existing queue, and yield a conflict for each.

    Its settings come from the side that has it.
    """
    pending = [settings["parent"] for settings in queues.values() if settings.get("parent")]
    while pending:
        parent = pending.pop()
        if parent in queues:
            continue
        their, my = theirs.get(parent), mine.get(parent)
        queues[parent] = dict(my or their or {})
        yield Conflict(queue=parent, base="there", theirs=_presence(their), mine=_presence(my))
        if above := queues[parent].get("parent"):
            pending.append(above)


def _presence(settings: Settings | None) -> str:
    return "there" if settings is not None else ""
