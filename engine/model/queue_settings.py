"""The settings of a queue, one row each: whatever reads, writes, compares or shows a setting uses this table.

A new setting needs a field in ``engine.model.queue_tree`` and a row here. From the row come our own format, the
annotation of other systems' objects, queues.yaml, drafts, diffs, REST, the editor, a queue's page and the table in
docs/api.md, each with what the queue itself says. Inheritance, and which effect a setting has, is code: see
docs/architecture.md.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from engine.model.message import gettext_noop
from engine.model.queue_tree import (
    TAKES_RECLAIM,
    TAKES_WITHIN,
    PreemptionPolicy,
    PriorityPolicy,
    Queue,
    Settings,
    Take,
    is_namespace,
    is_queue_path,
)


class Kind(StrEnum):
    """What a setting holds."""

    AMOUNTS = "amounts"
    """Resource -> amount."""
    CHOICE = "choice"
    """One of its values."""
    DURATION = "duration"
    """Milliseconds; people type ``1m30s``."""
    INTEGER = "integer"
    """A whole number of 32 bits."""
    FLAG = "flag"
    """True or false."""
    WEIGHT = "weight"
    """Billionths; people type ``1.5``."""
    NAMES = "names"
    """Several names, without duplicates."""


class QueueSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a queue."""

    name: str
    """Its name in our own format."""
    attribute: str
    """The field of Settings or Queue that holds it; REST shows it under this name on a queue of a cluster."""
    kind: Kind
    label: str
    """Its name as people read it (msgid)."""
    help: str
    """What it does, in sentences (msgid)."""
    schema_help: str = ""
    """Its description in the OpenAPI document."""
    draft_name: str = ""
    """Its name in drafts, where that differs."""
    leaf_only: bool = False
    """Whether it has a meaning on leaves alone."""
    has_column: bool = False
    """Whether the editor's grid has a column for it, or one for each resource."""
    below_root_only: bool = False
    """Whether it has no meaning on the root."""
    about_lending: bool = False
    """Whether it says how a queue lends, borrows and preempts under policies that lend quota."""
    share_attribute: str = ""
    """Of amounts, the field that keeps those that were given as percentages; empty: there are none."""
    values: tuple[StrEnum, ...] = ()
    """The values of a choice."""
    words: Mapping[str, str] = {}
    """Text of a value -> its name as people read it (msgid). Values without a name say the same as ``unset``."""
    unset: str = ""
    """What it means that a choice is not set (msgid)."""
    is_allowed: Callable[[str], bool] | None = None
    """Of names, which ones are possible."""
    not_allowed: str = ""
    """What is wrong with another name (msgid)."""
    yunikorn: str
    """The property of a queues.yaml that holds it, ours where YuniKorn has none; or the field (``resources.max``)."""
    kueue: str = ""
    """The field of a ClusterQueue's spec, as ``engine.formats.kueue`` has it; empty: our annotation holds it."""
    form: int
    """The version of the canonical encoding that has it, so that no older reader passes over it: of a new setting one
    more than the highest here (``engine.formats.tree_json.canonical``)."""

    @property
    def in_template(self) -> bool:
        """Return whether the templates of dynamic leaves have it too."""
        return self.attribute in _IN_TEMPLATES

    @property
    def typed_as(self) -> str:
        """Return its name in drafts."""
        return self.draft_name or self.name

    @property
    def default(self) -> Any:
        """Return the value that a queue has without the setting."""
        return DEFAULTS[self.attribute]

    def of(self, settings: Settings) -> Any:
        """Return its value for a queue, or for a template that may have it."""
        return getattr(settings, self.attribute)

    def is_set(self, settings: Settings) -> bool:
        """Return whether a queue, or a template that may have it, sets it to anything but its default."""
        return bool(
            self.of(settings) != self.default or (self.share_attribute and getattr(settings, self.share_attribute))
        )


DEFAULTS: Mapping[str, Any] = {
    field.name: field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    for field in msgspec.structs.fields(Queue)
}
"""Field of Queue -> the value that it has where nothing is said."""
_IN_TEMPLATES = frozenset(field.name for field in msgspec.structs.fields(Settings))

OUR_PREFIX = "scheduler-admin.io/"
"""How properties and annotations begin that other systems have no use for."""
LENDING_PROPERTY = f"{OUR_PREFIX}lending"
"""The property of a queues.yaml that holds the settings about lending in our own format, as JSON."""
NO_PATH = gettext_noop("%(name)s can't be the path of a queue: it begins with “root.”, then come names.")
_AMOUNT_HELP = "Resource -> amount: 1500m, 32Gi; or 40%, of what the nearest queue above sets, else of the cluster."
_AS_POLICY = gettext_noop("as the policy says")
TAKE_WORDS: Mapping[str, str] = {
    Take.NEVER.value: gettext_noop("nobody"),
    Take.LOWER_PRIORITY.value: gettext_noop("lower priorities"),
    Take.LOWER_OR_NEWER_EQUAL_PRIORITY.value: gettext_noop("lower priorities, and newer ones of the same"),
    Take.ANY.value: gettext_noop("anybody"),
}
"""Which pods a queue may preempt -> that as people read it (msgid)."""

SETTINGS: tuple[QueueSetting, ...] = (
    QueueSetting(
        name="parent",
        attribute="parent_declared",
        draft_name="parent_declared",
        kind=Kind.FLAG,
        label=gettext_noop("what it holds"),
        help=gettext_noop("Whether the queue may only hold queues, even while it holds none."),
        schema_help="True: holds queues only, even while it holds none.",
        words={"true": gettext_noop("queues only")},
        unset=gettext_noop("pods, or queues"),
        yunikorn="parent",
        form=1,
    ),
    QueueSetting(
        name="preemption_policy",
        attribute="preemption_policy",
        has_column=True,
        kind=Kind.CHOICE,
        label=gettext_noop("preemption"),
        help=gettext_noop(
            "With a fence, pods in and below the queue preempt only there. "
            "With disabled, they neither preempt nor are preempted."
        ),
        values=tuple(PreemptionPolicy),
        words={"fence": gettext_noop("fence"), "disabled": gettext_noop("disabled")},
        unset=gettext_noop("default"),
        yunikorn="preemption.policy",
        form=1,
    ),
    QueueSetting(
        name="guaranteed",
        attribute="guaranteed",
        has_column=True,
        kind=Kind.AMOUNTS,
        label=gettext_noop("guaranteed"),
        help=gettext_noop(
            "What the queue is guaranteed of each resource: an amount, or a percentage of what the nearest queue "
            "above sets, else of the cluster."
        ),
        schema_help=_AMOUNT_HELP,
        share_attribute="guaranteed_share",
        yunikorn="resources.guaranteed",
        kueue="resourceGroups: nominalQuota",
        form=1,
    ),
    QueueSetting(
        name="max",
        attribute="max",
        has_column=True,
        kind=Kind.AMOUNTS,
        label=gettext_noop("max"),
        help=gettext_noop(
            "The most that the queue may use of each resource: an amount, or a percentage of what the nearest queue "
            "above sets, else of the cluster."
        ),
        schema_help=_AMOUNT_HELP,
        share_attribute="max_share",
        yunikorn="resources.max",
        kueue="resourceGroups: borrowingLimit",
        form=1,
    ),
    QueueSetting(
        name="delay",
        attribute="delay_ms",
        has_column=True,
        kind=Kind.DURATION,
        label=gettext_noop("delay"),
        help=gettext_noop("How long a pending pod waits before it may preempt. Empty means 30s."),
        schema_help="30s, 1m30s",
        leaf_only=True,
        yunikorn="preemption.delay",
        form=1,
    ),
    QueueSetting(
        name="quota_delay",
        attribute="quota_delay_ms",
        kind=Kind.DURATION,
        label=gettext_noop("delay of a lowered max"),
        help=gettext_noop(
            "How long YuniKorn waits until it evicts pods because the max was lowered below what the queue uses. "
            "Empty means as the queue above; where no queue says anything, no pod is evicted for that."
        ),
        schema_help="YuniKorn: how long after its max was lowered pods go until it is kept.",
        yunikorn="quota.preemption.delay",
        form=1,
    ),
    QueueSetting(
        name="priority_policy",
        attribute="priority_policy",
        kind=Kind.CHOICE,
        label=gettext_noop("priorities"),
        help=gettext_noop("Whether priorities of pods below the queue are compared with those of pods outside it."),
        values=tuple(PriorityPolicy),
        words={"fence": gettext_noop("compared inside only")},
        unset=gettext_noop("compared with all"),
        yunikorn="priority.policy",
        form=1,
    ),
    QueueSetting(
        name="priority_offset",
        attribute="priority_offset",
        kind=Kind.INTEGER,
        label=gettext_noop("priority offset"),
        help=gettext_noop("A whole number that is added to the priorities of the queue’s pods."),
        yunikorn="priority.offset",
        form=1,
    ),
    QueueSetting(
        name="evict_uncontrolled",
        attribute="evict_uncontrolled",
        kind=Kind.FLAG,
        leaf_only=True,
        label=gettext_noop("pods without a controller"),
        help=gettext_noop("Whether pods that nothing would create again may be victims."),
        words={"true": gettext_noop("may be victims")},
        unset=gettext_noop("are never victims"),
        yunikorn=f"{OUR_PREFIX}evict-uncontrolled",
        form=1,
    ),
    QueueSetting(
        name="weight",
        attribute="weight",
        kind=Kind.WEIGHT,
        label=gettext_noop("weight"),
        help=gettext_noop(
            "Its borrowing is divided by this under fair sharing, so a weight of 2 may borrow twice as much. "
            "0 means that what it borrows is taken back first."
        ),
        schema_help="Its borrowing is divided by it under fair sharing: 2, 0.5; 1 where it is left out.",
        about_lending=True,
        below_root_only=True,
        yunikorn=LENDING_PROPERTY,
        kueue="fairSharing.weight",
        form=4,
    ),
    QueueSetting(
        name="lendable",
        attribute="lendable",
        kind=Kind.AMOUNTS,
        label=gettext_noop("lendable"),
        help=gettext_noop("The most of its guarantee that others may borrow. Empty means all of it, 0 means nothing."),
        schema_help="Resource -> the most of its guarantee that is lent.",
        about_lending=True,
        below_root_only=True,
        yunikorn=LENDING_PROPERTY,
        kueue="resourceGroups: lendingLimit",
        form=4,
    ),
    QueueSetting(
        name="take_within",
        attribute="take_within",
        kind=Kind.CHOICE,
        label=gettext_noop("preempts in itself"),
        help=gettext_noop("Whom its asks may preempt in the queue itself."),
        schema_help="Leaves: whom their asks may preempt in the queue itself.",
        about_lending=True,
        leaf_only=True,
        values=TAKES_WITHIN,
        words={one.value: TAKE_WORDS[one] for one in TAKES_WITHIN},
        unset=_AS_POLICY,
        yunikorn=LENDING_PROPERTY,
        kueue="preemption.withinClusterQueue",
        form=4,
    ),
    QueueSetting(
        name="take_reclaim",
        attribute="take_reclaim",
        kind=Kind.CHOICE,
        label=gettext_noop("preempts in others"),
        help=gettext_noop("Whom its asks may preempt in other queues that borrow."),
        schema_help="Leaves: whom in other queues that borrow.",
        about_lending=True,
        leaf_only=True,
        values=TAKES_RECLAIM,
        words={one.value: TAKE_WORDS[one] for one in TAKES_RECLAIM},
        unset=_AS_POLICY,
        yunikorn=LENDING_PROPERTY,
        kueue="preemption.reclaimWithinCohort",
        form=4,
    ),
    QueueSetting(
        name="take_borrowing",
        attribute="take_borrowing",
        kind=Kind.FLAG,
        label=gettext_noop("preempts while it borrows"),
        help=gettext_noop("Whether it may preempt lower priorities in other queues even while it borrows."),
        schema_help="Leaves: whether lower priorities in other queues even while it borrows itself.",
        about_lending=True,
        leaf_only=True,
        words={"true": gettext_noop("yes"), "false": gettext_noop("no")},
        unset=_AS_POLICY,
        yunikorn=LENDING_PROPERTY,
        kueue="preemption.borrowWithinCohort.policy",
        form=4,
    ),
    QueueSetting(
        name="take_threshold",
        attribute="take_threshold",
        kind=Kind.INTEGER,
        label=gettext_noop("preempts then up to priority"),
        help=gettext_noop("The highest priority that it may preempt while it borrows. Empty means any below its own."),
        schema_help="Leaves: of which priority at most while it borrows.",
        about_lending=True,
        leaf_only=True,
        yunikorn=LENDING_PROPERTY,
        kueue="preemption.borrowWithinCohort.maxPriorityThreshold",
        form=4,
    ),
    QueueSetting(
        name="namespaces",
        attribute="namespaces",
        kind=Kind.NAMES,
        label=gettext_noop("namespaces"),
        help=gettext_noop(
            "The namespaces whose pods run in the queue if they name no queue. "
            "If several leaves claim one, it is the first of them by path."
        ),
        leaf_only=True,
        is_allowed=is_namespace,
        not_allowed=gettext_noop("%(name)s can't name a namespace."),
        yunikorn=f"{OUR_PREFIX}namespaces",
        form=1,
    ),
    QueueSetting(
        name="former_paths",
        attribute="former_paths",
        kind=Kind.NAMES,
        label=gettext_noop("former paths"),
        help=gettext_noop("Pods that name one of these, or a queue that was below it, run here."),
        schema_help="What it was called before. Pods that name one of these, or a queue that was below it, run here.",
        is_allowed=is_queue_path,
        not_allowed=NO_PATH,
        yunikorn=f"{OUR_PREFIX}former-paths",
        form=5,
    ),
)
"""All settings of queues, in the order in which documents and pages have them."""

BY_NAME: Mapping[str, QueueSetting] = {one.name: one for one in SETTINGS}
"""Name in our own format -> setting."""
BY_DRAFT_NAME: Mapping[str, QueueSetting] = {one.typed_as: one for one in SETTINGS}
"""Name in drafts -> setting."""
TEMPLATE_SETTINGS: tuple[QueueSetting, ...] = tuple(one for one in SETTINGS if one.in_template)
"""The settings that queues and templates have in common."""
LENDING_SETTINGS: tuple[QueueSetting, ...] = tuple(one for one in SETTINGS if one.about_lending)
"""How a queue lends, borrows and preempts under policies that lend quota."""
