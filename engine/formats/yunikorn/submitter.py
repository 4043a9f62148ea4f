"""The submitter of a pod, determined as in YuniKorn's shim.

Source: GetUserFromPod of yunikorn-k8shim (pkg/common/utils).
"""

from collections.abc import Mapping

import msgspec

from engine.formats.kubernetes.interning import shared
from engine.formats.undecodable import UNDECODABLE

USER_INFO_ANNOTATION = "yunikorn.apache.org/user.info"
"""Annotation ``{"user": "ann", "groups": ["dev"]}`` that YuniKorn's admission controller sets."""
USER_LABEL = "yunikorn.apache.org/username"
"""Label with the user, used if the annotation is missing."""

Submitter = tuple[str, tuple[str, ...]]
"""User and groups; an empty user means that the user is unknown."""


class _UserInfo(msgspec.Struct, frozen=True):
    user: str = ""
    groups: tuple[str, ...] | None = None


def submitter(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Submitter:
    """Return the user and groups of a pod; empty if the pod does not name them or they can't be read."""
    user_info = annotations.get(USER_INFO_ANNOTATION)
    return _read(user_info) if user_info else (labels.get(USER_LABEL, ""), ())


@shared
def _read(text: str) -> Submitter:
    try:
        info = msgspec.json.decode(text, type=_UserInfo)
    except UNDECODABLE:
        return "", ()
    return info.user, info.groups or ()
