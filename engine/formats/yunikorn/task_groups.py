"""The task groups of YuniKorn's applications, and the placeholders that YuniKorn makes for them.

Source: yunikorn-k8shim, GetTaskGroupsFromAnnotation (pkg/cache/utils.go), GetSchedulingPolicyParam
(pkg/cache/gang_utils.go) and GetPlaceholderFlagFromPodSpec (pkg/common/utils), the latter also as of 1.5 and 1.6.
"""

from collections.abc import Iterable, Mapping

import msgspec

from engine.formats.kubernetes.interning import shared
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects.pod_groups import TaskGroup

PLACEHOLDER_ANNOTATION = "internal.yunikorn.apache.org/placeholder"
OLDER_PLACEHOLDER_ANNOTATION = "yunikorn.apache.org/placeholder"
"""The annotation that YuniKorn read before 1.7."""
OLDEST_PLACEHOLDER_LABEL = "placeholder"
"""The label that YuniKorn read before 1.7."""
TASK_GROUP_ANNOTATION = "yunikorn.apache.org/task-group-name"
TASK_GROUPS_ANNOTATION = "yunikorn.apache.org/task-groups"
PARAMETERS_ANNOTATION = "yunikorn.apache.org/schedulingPolicyParameters"
_STYLE, _HARD = "gangSchedulingStyle", "Hard"
HARD_GANG = f"{_STYLE}={_HARD}"
"""The parameter by which an application fails once its placeholders time out."""
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
"""The values that Go's strconv.ParseBool reads as true."""
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


class _TaskGroup(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    min_member: int = 0


def is_placeholder(labels: Mapping[str, str], annotations: Mapping[str, str]) -> bool:
    """Return whether YuniKorn made a pod as a placeholder for a pod of a task group."""
    flags = (
        annotations.get(PLACEHOLDER_ANNOTATION, ""),
        annotations.get(OLDER_PLACEHOLDER_ANNOTATION, ""),
        labels.get(OLDEST_PLACEHOLDER_LABEL, ""),
    )
    return next((flag in _TRUE for flag in flags if flag in (*_TRUE, *_FALSE)), False)


def task_groups(annotations: Mapping[str, str]) -> tuple[TaskGroup, ...]:
    """Return the task groups that a pod states; none if it states none or YuniKorn would reject them."""
    text = annotations.get(TASK_GROUPS_ANNOTATION)
    return _read(text) if text else ()


@shared
def _read(text: str) -> tuple[TaskGroup, ...]:
    try:
        groups = msgspec.json.decode(text, type=tuple[_TaskGroup, ...])
    except UNDECODABLE:
        return ()
    if any(not group.name or group.min_member < 1 for group in groups):
        return ()
    return tuple(TaskGroup(group.name, group.min_member) for group in groups)


def is_hard(annotations: Mapping[str, str]) -> bool:
    """Return whether the application fails if its placeholders time out; by default it starts what fits."""
    hard = False
    for parameter in annotations.get(PARAMETERS_ANNOTATION, "").split(" "):
        name, _, value = parameter.partition("=")
        if name == _STYLE:
            hard = value == _HARD
    return hard


def write_task_groups(groups: Iterable[TaskGroup]) -> str:
    """Return the annotation that states task groups. Their resources are not known, and written as none."""
    stated = [{"name": group.name, "minMember": group.min_member, "minResource": {}} for group in groups]
    return msgspec.json.encode(stated).decode() if stated else ""
