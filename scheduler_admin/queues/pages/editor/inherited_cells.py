"""What the empty cells of a draft's grid say: what holds there all the same, by which queue above."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from django.utils.translation import gettext as _

from engine.formats.tree_json.percentages import amounts_of
from engine.model.queue_tree import QueueTree
from scheduler_admin.queues.drafts.selectors import DraftRow, DraftState
from scheduler_admin.queues.pages.tree.inherited import from_above
from scheduler_admin.queues.presenters.setting_words import text_in_words

Above = Mapping[str, tuple[str, str]]
"""Setting -> what holds for a queue that says nothing of it, short, and in a sentence."""
MARK = "↑"
"""Before what is inherited, so that it never looks like the queue's own."""
SETTINGS = ("preemption_policy", "delay", "quota_delay")
"""Those that are inherited, beside amounts."""


@dataclass(frozen=True)
class Inheritance:
    """What the rows of a draft inherit; nothing where its queues form no tree."""

    state: DraftState
    settings: Sequence[str] = ()
    drawn: Sequence[DraftRow] = ()
    """The rows that a page draws."""
    _by_path: dict[str, Above] = field(default_factory=dict)

    def of(self, row: DraftRow) -> Above:
        """What one inherits."""
        above = row.path.rpartition(".")[0]
        return self._below(self.state.tree, above) if above and self.state.tree else {}

    @cached_property
    def by_parent(self) -> Mapping[int | None, Above]:
        """By the parent (pk of its row): what drawn queues inherit. So much less is sent than for every row."""
        found: dict[int | None, Above] = {}
        for row in self.drawn if self.state.tree else ():
            if row.placed.above is not None and row.placed.above not in found:
                found[row.placed.above] = self.of(row)
        return found

    @property
    def tag(self) -> str:
        """Differs whenever any of it does."""
        return blake2b(repr(self.by_parent).encode(), digest_size=6).hexdigest()

    def _below(self, tree: QueueTree, path: str) -> Above:
        """What queues below one inherit: what that one does, but for what it says itself."""
        if path not in self._by_path:
            queue, parent = tree[path], tree.parents[path]
            found = dict(self._below(tree, parent)) if parent else {}
            for setting in dict.fromkeys((*self.settings, *SETTINGS)):
                name, _slash, resource = setting.partition("/")
                if resource and resource not in amounts_of(queue, name):
                    continue
                if one := from_above(tree, path, setting, self.state.draft.dialect):
                    text = text_in_words(setting, str(one.value))
                    found[setting] = (
                        f"{MARK} {text}",
                        _("%(value)s, inherited from %(queue)s") % {"value": text, "queue": one.source},
                    )
            self._by_path[path] = found
        return self._by_path[path]
