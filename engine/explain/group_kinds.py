"""What a group of pods is in the cluster, in words: what starts its pods together, and which of its rules matter."""

from engine.model.decision import GroupFacts
from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message
from engine.model.objects import GroupKind

LABELS: dict[GroupKind, str] = {
    GroupKind.POD_GROUP: gettext_noop("PodGroup"),
    GroupKind.VOLCANO: gettext_noop("PodGroup of Volcano"),
    GroupKind.YUNIKORN: gettext_noop("application of YuniKorn"),
}
APPLICATION = gettext_noop(
    "The group is the application %(group)s of YuniKorn, with the task groups %(parts)s. YuniKorn starts none of its "
    "pods before each of its placeholders has a node."
)
HARD = gettext_noop("If that takes too long, the application fails (gang scheduling style Hard).")
SOFT = gettext_noop("If that takes too long, its pods start one by one (gang scheduling style Soft).")
OF_VOLCANO = ngettext_noop(
    "The group is a PodGroup of Volcano, which starts %(count)s of its pods at once.",
    "The group is a PodGroup of Volcano, which starts at least %(count)s of its pods at once.",
)
OF_WORKLOAD = gettext_noop("The group was made for the Workload %(workload)s.")
COMPOSITE_GANG = ngettext_noop(
    "The group is part of the composite group %(composite)s, which needs %(count)s of its groups at once.",
    "The group is part of the composite group %(composite)s, which needs %(count)s of its groups at once.",
)
COMPOSITE = gettext_noop(
    "The group is part of the composite group %(composite)s, whose groups may start one after the other."
)


def kind_label(kind: GroupKind) -> Message:
    """Return what a kind of group is called."""
    return Message(LABELS[kind])


def about_group(group: GroupFacts) -> tuple[Message, ...]:
    """Return the sentences about a group that go beyond its name and the number of its pods."""
    if group.of_kind is GroupKind.YUNIKORN:
        parts = ", ".join(f"{part.name} ({part.min_member})" for part in group.task_groups or ())
        own = Message(APPLICATION, {"group": Name(group.name), "parts": Name(parts)})
        return own, Message(HARD if group.hard else SOFT)
    if group.of_kind is GroupKind.VOLCANO:
        return (plural_message(OF_VOLCANO, group.needed),)
    workload = (Message(OF_WORKLOAD, {"workload": Name(group.workload)}),) if group.workload else ()
    return *workload, *(_composite(each.name, each.min_groups) for each in group.composites or ())


def _composite(name: str, needed: int | None) -> Message:
    if needed is None:
        return Message(COMPOSITE, {"composite": Name(name)})
    return plural_message(COMPOSITE_GANG, needed, composite=Name(name))
