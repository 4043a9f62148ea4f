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
    schema_help: str
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
    def decided_by_policy(self) -> bool:
        """Return whether the policy decides where the setting is not set."""
        return self.unset == _AS_POLICY

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


def differing_fields(settings: Settings) -> set[str]:
    """Return the fields of a queue, or of a template, that hold anything but their default, all found at once."""
    values = zip(settings.__struct_fields__, msgspec.structs.astuple(settings), strict=True)
    return {name for name, value in values if value != DEFAULTS[name]}


_IN_TEMPLATES = frozenset(field.name for field in msgspec.structs.fields(Settings))

OUR_PREFIX = "scheduler-admin.io/"
"""How properties and annotations begin that other systems have no use for."""
LENDING_PROPERTY = f"{OUR_PREFIX}lending"
"""The property of a queues.yaml that holds the settings about lending in our own format, as JSON."""
NO_PATH = gettext_noop("%(name)s is not a valid queue path. A path starts with “root.”, followed by names.")
_AS_POLICY = gettext_noop("default of the policy")
TAKE_WORDS: Mapping[str, str] = {
    Take.NEVER.value: gettext_noop("none"),
    Take.LOWER_PRIORITY.value: gettext_noop("lower priorities"),
    Take.LOWER_OR_NEWER_EQUAL_PRIORITY.value: gettext_noop("lower priorities and newer pods of the same priority"),
    Take.ANY.value: gettext_noop("any pod"),
}
"""Which pods a queue may preempt -> that as people read it (msgid)."""

SETTINGS: tuple[QueueSetting, ...] = (
    QueueSetting(
        name="parent",
        attribute="parent_declared",
        draft_name="parent_declared",
        kind=Kind.FLAG,
        label=gettext_noop("contents"),
        help=gettext_noop("Whether the queue can contain only queues, even while it contains none."),
        schema_help="True if the queue can contain only queues.",
        words={"true": gettext_noop("queues only")},
        unset=gettext_noop("pods or queues"),
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
            "Fence: pods in and below the queue preempt only there. Disabled: they neither preempt nor are preempted."
        ),
        schema_help="Preemption policy of the queue.",
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
            "The queue’s guarantee of each resource: an amount, or a percentage of what the nearest "
            "parent queue sets, or else of the cluster."
        ),
        schema_help="Guarantee by resource, such as `1500m` or `40%`.",
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
            "The most that the queue can use of each resource: an amount, or a percentage of what the "
            "nearest parent queue sets, or else of the cluster."
        ),
        schema_help="Max by resource, such as `32Gi` or `40%`.",
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
        label=gettext_noop("preemption delay"),
        help=gettext_noop("How long a pending pod waits before it can preempt. Default: 30s."),
        schema_help="How long a pending pod waits before it can preempt, such as `1m30s`.",
        leaf_only=True,
        yunikorn="preemption.delay",
        form=1,
    ),
    QueueSetting(
        name="quota_delay",
        attribute="quota_delay_ms",
        kind=Kind.DURATION,
        label=gettext_noop("delay after lowering max"),
        help=gettext_noop(
            "How long YuniKorn waits before it evicts pods after the max was lowered below the queue’s "
            "usage. Empty: as the parent queue. If no queue sets it, no pods are evicted for this."
        ),
        schema_help="How long YuniKorn waits before it enforces a lowered max.",
        yunikorn="quota.preemption.delay",
        form=1,
    ),
    QueueSetting(
        name="priority_policy",
        attribute="priority_policy",
        kind=Kind.CHOICE,
        label=gettext_noop("priorities"),
        help=gettext_noop("Whether priorities of pods below the queue are compared with those of pods outside it."),
        schema_help="Whether priorities are compared with those of pods in other queues.",
        values=tuple(PriorityPolicy),
        words={"fence": gettext_noop("compared inside only")},
        unset=gettext_noop("compared with all queues"),
        yunikorn="priority.policy",
        form=1,
    ),
    QueueSetting(
        name="priority_offset",
        attribute="priority_offset",
        kind=Kind.INTEGER,
        label=gettext_noop("priority offset"),
        help=gettext_noop("A whole number that is added to the priorities of the queue’s pods."),
        schema_help="Number that is added to the priorities of the queue's pods.",
        yunikorn="priority.offset",
        form=1,
    ),
    QueueSetting(
        name="evict_uncontrolled",
        attribute="evict_uncontrolled",
        kind=Kind.FLAG,
        leaf_only=True,
        label=gettext_noop("pods without a controller"),
        help=gettext_noop("Whether pods that no controller would recreate can be preempted."),
        schema_help="True if pods without a controller can be preempted.",
        words={"true": gettext_noop("can be preempted")},
        unset=gettext_noop("are never preempted"),
        yunikorn=f"{OUR_PREFIX}evict-uncontrolled",
        form=1,
    ),
    QueueSetting(
        name="weight",
        attribute="weight",
        kind=Kind.WEIGHT,
        label=gettext_noop("weight"),
        help=gettext_noop(
            "Fair sharing divides the queue’s borrowed quota by this, so a weight of 2 can borrow twice "
            "as much. With 0, borrowed quota is claimed back first."
        ),
        schema_help="Weight under fair sharing, such as `2` or `0.5`; default is 1.",
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
        help=gettext_noop("The most of its guarantee that other queues can borrow. Empty: all of it. 0: nothing."),
        schema_help="Highest part of the guarantee that can be lent, by resource; default is all of it.",
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
        label=gettext_noop("preempts within itself"),
        help=gettext_noop("Which pods of the queue itself its pending pods can preempt."),
        schema_help="Pods of the same queue that pending pods of a leaf queue can preempt; "
        "by default, the policy decides.",
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
        label=gettext_noop("preempts other queues"),
        help=gettext_noop("Which pods of other queues that borrow its pending pods can preempt."),
        schema_help="Pods of borrowing queues that pending pods of a leaf queue can preempt; "
        "by default, the policy decides.",
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
        label=gettext_noop("preempts while borrowing"),
        help=gettext_noop("Whether it can preempt lower priorities in other queues even while it borrows."),
        schema_help="True if a leaf queue can preempt lower priorities while it borrows; "
        "by default, the policy decides.",
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
        label=gettext_noop("highest priority preempted while borrowing"),
        help=gettext_noop(
            "The highest priority that it can preempt while it borrows. Empty: any priority below its own."
        ),
        schema_help="Highest priority that a leaf queue can preempt while it borrows; default is no threshold.",
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
            "Namespaces whose pods belong to the queue unless they name another one. If several leaf "
            "queues claim a namespace, the first by path gets it."
        ),
        schema_help="Namespaces whose pods run in this queue if they name no queue.",
        leaf_only=True,
        is_allowed=is_namespace,
        not_allowed=gettext_noop("%(name)s is not a valid namespace name."),
        yunikorn=f"{OUR_PREFIX}namespaces",
        form=1,
    ),
    QueueSetting(
        name="former_paths",
        attribute="former_paths",
        kind=Kind.NAMES,
        label=gettext_noop("former paths"),
        help=gettext_noop("Pods that name one of these paths, or a queue below one, belong here."),
        schema_help="Earlier paths of the queue; pods that name one of them run here.",
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
