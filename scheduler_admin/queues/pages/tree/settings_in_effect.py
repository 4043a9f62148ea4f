"""The settings in effect on a queue, each with the queue that it comes from: a row of the table, or its own setting."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from engine.formats.tree_json.document import write_settings
from engine.model.queue_settings import BY_NAME, SETTINGS, QueueSetting
from engine.model.queue_tree import PriorityPolicy, Queue, QueueTree
from engine.policies import delay_inheriting_dialects
from scheduler_admin.core.words import duration, listed, queue_name
from scheduler_admin.queues.drafts.texts import typed
from scheduler_admin.queues.pages.tree.inherited import Granted
from scheduler_admin.queues.presenters.setting_words import hint, setting_name, text_in_words
from scheduler_admin.site.templatetags.scheduler import amount


@dataclass(frozen=True)
class InEffect:
    """A setting as people read it."""

    name: str
    value: str
    source: str
    """Where it comes from."""
    note: str = ""


@dataclass(frozen=True)
class _Place:
    """A queue in its tree."""

    tree: QueueTree
    queue: Queue
    """As its reader may see it."""
    dialect: str
    shares: bool
    """Whether the cluster is divided by shares."""

    @property
    def leaf(self) -> bool:
        return self.tree.is_leaf(self.queue.path)

    def source(self, path: str | None) -> str:
        """Say where a setting comes from: the queue itself, one above, or nowhere."""
        if path is None:
            return _("default")
        return _("this queue") if path == self.queue.path else queue_name(path)


def settings_in_effect(
    tree: QueueTree, queue: Queue, granted: Sequence[Granted], *, dialect: str, shares: bool
) -> list[InEffect]:
    """Return what holds for a queue: first ``granted``, its amounts, then the other settings in their table's order."""
    place = _Place(tree, queue, dialect, shares)
    found = [row for one in granted for row in (_shared(place, one) if shares else _granted(place, one))]
    for setting in SETTINGS:
        found += _IN_EFFECT.get(setting.name, _own)(place, setting)
    return found


def _own(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    """Yield what the queue itself says of a setting; nothing where it says nothing."""
    for name, text in typed(write_settings(place.queue, [setting])).items():
        yield InEffect(capfirst(setting_name(name)), text_in_words(name, text), _("this queue"))


def _granted(place: _Place, one: Granted) -> Iterator[InEffect]:
    words = {"resource": one.resource}
    guaranteed = _("no guarantee") if one.guaranteed is None else amount(one.resource, one.guaranteed)
    yield InEffect(_("%(resource)s guarantee") % words, guaranteed, place.source(one.guaranteed_by))
    limit = _("unlimited") if one.max is None else amount(one.resource, one.max)
    whole = one.max is not None and one.max_by is None
    yield InEffect(
        _("%(resource)s max") % words, limit, _("capacity of all nodes") if whole else place.source(one.max_by)
    )


def _shared(place: _Place, one: Granted) -> Iterator[InEffect]:
    words = {"resource": one.resource}
    reserved = _("nothing reserved") if one.guaranteed is None else amount(one.resource, one.guaranteed)
    yield InEffect(_("%(resource)s reserved") % words, reserved, place.source(one.guaranteed_by))
    deserved = _("unknown") if one.deserved is None else amount(one.resource, one.deserved)
    yield InEffect(_("%(resource)s deserved share") % words, deserved, _("last pass"))
    limit = _("unlimited") if one.max is None else amount(one.resource, one.max)
    yield InEffect(_("%(resource)s hard cap") % words, limit, place.source(one.max_by))


def _preemption(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    off, fence = place.tree.disabled_by(place.queue.path), place.tree.fence(place.queue.path)
    value = _("disabled") if off else _("only within its fence") if fence else _("anywhere")
    yield InEffect(capfirst(_(setting.label)), value, place.source(off or fence))


def _delay(place: _Place, _setting: QueueSetting) -> Iterator[InEffect]:
    """Yield how long pending pods of a leaf wait before they may preempt."""
    if not place.leaf:
        return
    inherited, path = place.dialect in delay_inheriting_dialects(), place.queue.path
    name = _("Grace period") if place.shares else _("Preemption delay")
    by = place.tree.delay_by(path, inherited=inherited)
    yield InEffect(name, duration(place.tree.delay_ms(path, inherited=inherited) / 1000), place.source(by))


def _quota_delay(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    """Yield how long after a queue's max was lowered pods go, where any go for that."""
    by = place.tree.quota_delay_by(place.queue.path)
    if by is not None:
        waits = duration((place.tree.quota_delay_ms(place.queue.path) or 0) / 1000)
        yield InEffect(capfirst(_(setting.label)), waits, place.source(by))


def _priorities(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    """Yield with whose priorities those of the queue's pods are compared."""
    if place.shares:
        return
    above = place.tree.lineage(place.queue.path)
    by = next((path for path in above if place.tree[path].priority_policy is PriorityPolicy.FENCE), None)
    value = _(setting.words["fence"]) if by else _(setting.unset)
    yield InEffect(capfirst(_(setting.label)), value, place.source(by))


def _namespaces(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    if place.leaf:
        names = listed(place.queue.namespaces)
        yield InEffect(capfirst(_(setting.label)), names or "–", _("this queue") if names else _("default"))


def _uncontrolled(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    if place.leaf:
        allowed = place.queue.evict_uncontrolled
        value = _(setting.words["true"]) if allowed else _(setting.unset)
        yield InEffect(capfirst(_(setting.label)), value, _("this queue") if allowed else _("default"))


def _former_paths(place: _Place, setting: QueueSetting) -> Iterator[InEffect]:
    for row in _own(place, setting):
        yield InEffect(row.name, row.value, row.source, hint(setting.typed_as))


def _elsewhere(_place: _Place, _setting: QueueSetting) -> Iterator[InEffect]:
    """Yield nothing: another row has it."""
    yield from ()


_IN_EFFECT: Mapping[str, Callable[[_Place, QueueSetting], Iterator[InEffect]]] = {
    "guaranteed": _elsewhere,
    "max": _elsewhere,
    "preemption_policy": _preemption,
    "delay": _delay,
    "quota_delay": _quota_delay,
    "priority_policy": _priorities,
    "evict_uncontrolled": _uncontrolled,
    "namespaces": _namespaces,
    "former_paths": _former_paths,
}
"""The settings that hold without a queue saying so itself, or that need more words than their value."""
assert BY_NAME.keys() >= _IN_EFFECT.keys(), "a setting that is none"
