"""What the empty cells of a draft's grid say: what holds there all the same, by which queue above."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from django.utils.translation import gettext as _

from engine.formats.shares import amounts_of
from scheduler_admin.queues.draft_selectors import DraftState
from scheduler_admin.web.editor.words import text_in_words
from scheduler_admin.web.inherited import from_above

Above = Mapping[str, tuple[str, str]]
"""Setting -> what holds for a queue that says nothing of it, short, and in a sentence."""
SETTINGS = ("preemption_policy", "delay", "quota_delay")
"""Those that are inherited, beside amounts."""


@dataclass(frozen=True)
class Inheritance:
    """By the parent (pk of its row): what queues below it inherit. So much less is sent than for every row."""

    by_parent: Mapping[int | None, Above]

    @property
    def tag(self) -> str:
        """Differs whenever any of it does."""
        return blake2b(repr(self.by_parent).encode(), digest_size=6).hexdigest()


def inheritance(state: DraftState, settings: Iterable[str]) -> Inheritance:
    """Of a draft; nothing where its queues form no tree."""
    found: dict[int | None, Above] = {}
    by_path: dict[str, Above] = {}
    names = tuple(dict.fromkeys((*settings, *SETTINGS)))
    for row in state.rows if state.tree else ():
        above = row.placed.above
        if above is not None and above not in found:
            found[above] = _below(state, row.path.rpartition(".")[0], names, by_path)
    return Inheritance(found)


def _below(state: DraftState, path: str, settings: Iterable[str], known: dict[str, Above]) -> Above:
    """What queues below one inherit: what that one does, but for what it says itself. ``known`` is filled."""
    assert state.tree is not None
    if path not in known:
        queue, parent = state.tree[path], state.tree.parents[path]
        found = dict(_below(state, parent, settings, known)) if parent else {}
        for setting in settings:
            field, _slash, resource = setting.partition("/")
            if resource and resource not in amounts_of(queue, field):
                continue
            if one := from_above(state.tree, path, setting, state.draft.dialect):
                text = text_in_words(setting, str(one.value))
                found[setting] = (text, _("%(value)s from %(queue)s") % {"value": text, "queue": one.source})
        known[path] = found
    return known[path]
