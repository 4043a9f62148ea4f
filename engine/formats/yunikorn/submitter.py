"""Who submitted a pod, as YuniKorn's shim reads it: GetUserFromPod of its package common/utils."""

from collections.abc import Mapping

import msgspec

from engine.formats.kubernetes.interning import shared
from engine.formats.undecodable import UNDECODABLE

USER_INFO_ANNOTATION = "yunikorn.apache.org/user.info"
"""``{"user": "ann", "groups": ["dev"]}``, set by YuniKorn's admission controller."""
USER_LABEL = "yunikorn.apache.org/username"
"""Where there is no such annotation."""

Submitter = tuple[str, tuple[str, ...]]
"""User and groups; an empty user is not known."""


class _UserInfo(msgspec.Struct, frozen=True):
    user: str = ""
    groups: tuple[str, ...] | None = None


def submitter(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Submitter:
    """User and groups of a pod; nobody's where it says nothing, or what can't be read."""
    told = annotations.get(USER_INFO_ANNOTATION)
    return _read(told) if told else (labels.get(USER_LABEL, ""), ())


@shared
def _read(told: str) -> Submitter:
    try:
        info = msgspec.json.decode(told, type=_UserInfo)
    except UNDECODABLE:
        return "", ()
    return info.user, info.groups or ()
