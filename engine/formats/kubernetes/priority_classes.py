"""Validation of PriorityClasses and of changes to them, in advance of the API server's own validation.

Sources: pkg/apis/scheduling/validation, plugin/pkg/admission/priority and apimachinery's validation of names, labels
and annotations, of Kubernetes 1.36.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from engine.formats.kubernetes.convert import MAY_PREEMPT_ANNOTATION, OPT_OUT_ANNOTATION
from engine.model.message import Message, gettext_noop
from engine.model.objects import HIGHEST_PRIORITY, PriorityClass

LOWEST = -(2**31)
"""Lowest priority value, which has 32 bits."""
RESERVED = "system-"
_LONGEST_NAME = 253
_LONGEST_PART = 63
_MOST_BYTES = 256 * 1024
"""Largest total size of an object's annotations, keys and values."""
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)


class Fault(msgspec.Struct, frozen=True):
    """The reason why a class is invalid.

    ``field`` is a field of PriorityClass; empty if the fault concerns the whole class.
    """

    field: str
    message: Message

    def __str__(self) -> str:
        return str(self.message)


def creation_faults(new_class: PriorityClass, known: Iterable[PriorityClass]) -> tuple[Fault, ...]:
    """Return why a new class would be rejected, given the existing classes; empty if it would be accepted."""
    known = tuple(known)
    return (*_name(new_class.name, known), *_value(new_class.value), *_common_faults(new_class, known))


def change_faults(before: PriorityClass, after: PriorityClass, known: Iterable[PriorityClass]) -> tuple[Fault, ...]:
    """Return why a change would be rejected; empty if it would be accepted. ``known`` may include the class itself."""
    fixed = {
        "name": gettext_noop("The name of a priority class can't be changed. Create another class."),
        "value": gettext_noop("The value of a priority class can't be changed. Create another class."),
        "never_preempts": gettext_noop(
            "The preemptionPolicy of a priority class can't be changed. Create another class."
        ),
    }
    faults = [
        Fault(field, Message(message))
        for field, message in fixed.items()
        if getattr(before, field) != getattr(after, field)
    ]
    if after.global_default and is_system(after.name):
        faults.append(
            Fault("global_default", Message(gettext_noop("The cluster's own priority classes can't be the default.")))
        )
    return (*faults, *_common_faults(after, known))


def removal_faults(name: str) -> tuple[Fault, ...]:
    """Return why a class can't be deleted; empty if it can."""
    return (
        (Fault("", Message(gettext_noop("The cluster needs this priority class, so it can't be deleted."))),)
        if is_system(name)
        else ()
    )


def with_preemption_annotations(
    priority_class: PriorityClass, *, opted_out: bool | None = None, may_preempt: bool | None = None
) -> PriorityClass:
    """Return the class with its annotations set to these values; None keeps what they say now.

    An annotation that already means the value is not rewritten.
    """
    annotations = dict(priority_class.annotations)
    for key, value, setting in (
        (OPT_OUT_ANNOTATION, "false", opted_out),
        (MAY_PREEMPT_ANNOTATION, "true", may_preempt),
    ):
        if setting:
            annotations[key] = value
        elif setting is False and annotations.get(key) == value:
            del annotations[key]
    return msgspec.structs.replace(
        priority_class,
        annotations=annotations,
        opted_out=annotations.get(OPT_OUT_ANNOTATION) == "false",
        may_preempt=annotations.get(MAY_PREEMPT_ANNOTATION) == "true",
    )


def merge_changes(
    base: PriorityClass, desired: PriorityClass, now: PriorityClass
) -> tuple[PriorityClass, tuple[str, ...]]:
    """Merge the changes from ``base`` to ``desired`` into ``now``; return the class and the conflicting fields.

    Labels and annotations are merged key by key. Where both sides changed the same value differently, the wanted value
    wins and the field is named.
    """
    clashes: list[str] = []
    after = now
    for field in ("description", "global_default"):
        base_value, desired_value, current_value = (getattr(version, field) for version in (base, desired, now))
        if desired_value != base_value:
            after = msgspec.structs.replace(after, **{field: desired_value})
            clashes += [field] if current_value not in (base_value, desired_value) else []
    for field in ("labels", "annotations"):
        pairs, clashing = _merged(*(getattr(version, field) for version in (base, desired, now)))
        after = msgspec.structs.replace(after, **{field: pairs})
        clashes += [field] if clashing else []
    return with_preemption_annotations(after), tuple(clashes)


def _merged(base: Mapping[str, str], desired: Mapping[str, str], now: Mapping[str, str]) -> tuple[dict[str, str], bool]:
    changed = [key for key in {**base, **desired} if base.get(key) != desired.get(key)]
    merged: dict[str, str | None] = {**now, **{key: desired.get(key) for key in changed}}
    clashing = any(now.get(key) not in (base.get(key), desired.get(key)) for key in changed)
    return {key: value for key, value in merged.items() if value is not None}, clashing


def is_system(name: str) -> bool:
    """Return whether a name belongs to a class of the cluster itself."""
    return name.startswith(RESERVED)


def _name(name: str, known: Iterable[PriorityClass]) -> Iterator[Fault]:
    if not name:
        yield Fault("name", Message(gettext_noop("Enter a name for the priority class.")))
    elif len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name):
        message = gettext_noop(
            "Use at most %(most)s lowercase letters, digits, dashes and dots. Start and end with a letter or digit."
        )
        yield Fault("name", Message(message, {"most": str(_LONGEST_NAME)}))
    elif is_system(name):
        message = gettext_noop("Names that begin with %(reserved)s are reserved for the cluster.")
        yield Fault("name", Message(message, {"reserved": RESERVED}))
    elif any(priority_class.name == name for priority_class in known):
        yield Fault("name", Message(gettext_noop("A priority class with this name already exists.")))


def _value(value: int) -> Iterator[Fault]:
    if value > HIGHEST_PRIORITY:
        message = gettext_noop(
            "Enter at most %(highest)s. Higher values are reserved for the cluster's own priority classes."
        )
        yield Fault("value", Message(message, {"highest": f"{HIGHEST_PRIORITY:,}"}))
    elif value < LOWEST:
        message = gettext_noop("Enter at least %(lowest)s. A priority is a 32-bit integer.")
        yield Fault("value", Message(message, {"lowest": f"{LOWEST:,}"}))


def _common_faults(new_class: PriorityClass, known: Iterable[PriorityClass]) -> Iterator[Fault]:
    """Yield the faults that apply to both new and changed classes."""
    holder = next((other.name for other in known if other.global_default and other.name != new_class.name), "")
    if new_class.global_default and holder:
        message = gettext_noop(
            "%(name)s is already the default, and only one class can be the default. "
            "Remove the default from %(name)s first."
        )
        yield Fault("global_default", Message(message, {"name": holder}))
    yield from _labels(new_class.labels)
    yield from _annotations(new_class.annotations)


def _labels(labels: Mapping[str, str]) -> Iterator[Fault]:
    for key, value in labels.items():
        if not _is_key(key):
            yield _odd_key("labels", key)
        elif value and (len(value) > _LONGEST_PART or not _PART.fullmatch(value)):
            message = gettext_noop(
                "The value of label %(key)s is not valid. Use at most %(most)s letters, digits, dashes, "
                "underscores and dots, and start and end with a letter or digit."
            )
            yield Fault("labels", Message(message, {"key": key, "most": str(_LONGEST_PART)}))


def _annotations(annotations: Mapping[str, str]) -> Iterator[Fault]:
    for key in annotations:
        if not _is_key(key.lower()):
            yield _odd_key("annotations", key)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _MOST_BYTES:
        yield Fault("annotations", Message(gettext_noop("The total size of all annotations is limited to 256 KiB.")))


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    sound = not slash or (len(prefix) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(prefix) is not None)
    return sound and len(name) <= _LONGEST_PART and _PART.fullmatch(name) is not None


def _odd_key(field: str, key: str) -> Fault:
    message = gettext_noop(
        "%(key)s is not a valid key. Use a name of at most %(most)s letters, digits, dashes, underscores "
        "and dots that starts and ends with a letter or digit. A domain and a slash before the name are "
        "optional."
    )
    return Fault(field, Message(message, {"key": key, "most": str(_LONGEST_PART)}))
