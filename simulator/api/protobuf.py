"""Reads bodies in the protobuf encoding of Kubernetes, which some kubectl commands send (`kubectl create job`, drain).

It only decodes, and only the kinds and fields below: a body with any other field is rejected rather than read in part.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simulator.objects import timestamp
from simulator.status import bad_request, unsupported_media_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.objects import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 70

# For each message, its fields by number: name and type. A type is a message, a scalar, [] for a list or {} for a map
# from strings; ? marks scalars that are written even when unset, so that zero means unset. Status is not written by
# clients.
_OBJECT = {1: ("metadata", "ObjectMeta")}
MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "Unknown": {1: ("type", "TypeMeta"), 2: ("raw", "raw"), 3: ("encoding", "str"), 4: ("media", "str")},
    "TypeMeta": {1: ("apiVersion", "str"), 2: ("kind", "str")},
    "ObjectMeta": {
        1: ("name", "str"),
        2: ("generateName", "str"),
        3: ("namespace", "str"),
        4: ("selfLink", "str"),
        5: ("uid", "str"),
        6: ("resourceVersion", "str"),
        7: ("generation", "int?"),
        8: ("creationTimestamp", "Time"),
        11: ("labels", "{}str"),
        12: ("annotations", "{}str"),
        13: ("ownerReferences", "[]OwnerReference"),
        14: ("finalizers", "[]str"),
    },
    "OwnerReference": {
        1: ("kind", "str"),
        3: ("name", "str"),
        4: ("uid", "str"),
        5: ("apiVersion", "str"),
        6: ("controller", "bool"),
        7: ("blockOwnerDeletion", "bool"),
    },
    "LabelSelector": {1: ("matchLabels", "{}str"), 2: ("matchExpressions", "[]Requirement")},
    "Requirement": {1: ("key", "str"), 2: ("operator", "str"), 3: ("values", "[]str")},
    "Namespace": {**_OBJECT, 2: ("spec", "NamespaceSpec"), 3: ("status", "ignored")},
    "NamespaceSpec": {1: ("finalizers", "[]str")},
    "ConfigMap": {**_OBJECT, 2: ("data", "{}str"), 3: ("binaryData", "{}bytes"), 4: ("immutable", "bool")},
    "Secret": {
        **_OBJECT,
        2: ("data", "{}bytes"),
        3: ("type", "str"),
        4: ("stringData", "{}str"),
        5: ("immutable", "bool"),
    },
    "ServiceAccount": _OBJECT,
    "ResourceQuota": {**_OBJECT, 2: ("spec", "ResourceQuotaSpec"), 3: ("status", "ignored")},
    "ResourceQuotaSpec": {1: ("hard", "{}Quantity"), 2: ("scopes", "[]str")},
    "PriorityClass": {
        **_OBJECT,
        2: ("value", "int"),
        3: ("globalDefault", "bool?"),
        4: ("description", "str"),
        5: ("preemptionPolicy", "str"),
    },
    "PodDisruptionBudget": {**_OBJECT, 2: ("spec", "PodDisruptionBudgetSpec"), 3: ("status", "ignored")},
    "PodDisruptionBudgetSpec": {
        1: ("minAvailable", "IntOrString"),
        2: ("selector", "LabelSelector"),
        3: ("maxUnavailable", "IntOrString"),
        4: ("unhealthyPodEvictionPolicy", "str"),
    },
    "Eviction": {**_OBJECT, 2: ("deleteOptions", "DeleteOptions")},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        4: ("propagationPolicy", "str"),
        5: ("dryRun", "[]str"),
    },
    "Preconditions": {1: ("uid", "str"), 2: ("resourceVersion", "str")},
    "SelfSubjectAccessReview": {**_OBJECT, 2: ("spec", "AccessReviewSpec"), 3: ("status", "ignored")},
    "AccessReviewSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "NonResourceAttributes"),
    },
    "ResourceAttributes": {
        1: ("namespace", "str"),
        2: ("verb", "str"),
        3: ("group", "str"),
        4: ("version", "str"),
        5: ("resource", "str"),
        6: ("subresource", "str"),
        7: ("name", "str"),
    },
    "NonResourceAttributes": {1: ("path", "str"), 2: ("verb", "str")},
    "SelfSubjectReview": {**_OBJECT, 2: ("status", "SelfSubjectReviewStatus")},
    "SelfSubjectReviewStatus": {1: ("userInfo", "ignored")},
    "Job": {**_OBJECT, 2: ("spec", "JobSpec"), 3: ("status", "ignored")},
    "JobSpec": {
        1: ("parallelism", "int"),
        2: ("completions", "int"),
        3: ("activeDeadlineSeconds", "int"),
        4: ("selector", "LabelSelector"),
        5: ("manualSelector", "bool"),
        6: ("template", "PodTemplateSpec"),
        7: ("backoffLimit", "int"),
        8: ("ttlSecondsAfterFinished", "int"),
        9: ("completionMode", "str"),
        10: ("suspend", "bool"),
    },
    "PodTemplateSpec": {**_OBJECT, 2: ("spec", "PodSpec")},
    "PodSpec": {
        2: ("containers", "[]Container"),
        3: ("restartPolicy", "str"),
        4: ("terminationGracePeriodSeconds", "int"),
        5: ("activeDeadlineSeconds", "int"),
        6: ("dnsPolicy", "str"),
        7: ("nodeSelector", "{}str"),
        8: ("serviceAccountName", "str"),
        9: ("serviceAccount", "str"),
        10: ("nodeName", "str"),
        11: ("hostNetwork", "bool?"),
        12: ("hostPID", "bool?"),
        13: ("hostIPC", "bool?"),
        16: ("hostname", "str"),
        17: ("subdomain", "str"),
        19: ("schedulerName", "str"),
        20: ("initContainers", "[]Container"),
        22: ("tolerations", "[]Toleration"),
        24: ("priorityClassName", "str"),
        25: ("priority", "int"),
    },
    "Toleration": {
        1: ("key", "str"),
        2: ("operator", "str"),
        3: ("value", "str"),
        4: ("effect", "str"),
        5: ("tolerationSeconds", "int"),
    },
    "Container": {
        1: ("name", "str"),
        2: ("image", "str"),
        3: ("command", "[]str"),
        4: ("args", "[]str"),
        5: ("workingDir", "str"),
        6: ("ports", "[]ContainerPort"),
        7: ("env", "[]EnvVar"),
        8: ("resources", "ResourceRequirements"),
        13: ("terminationMessagePath", "str"),
        14: ("imagePullPolicy", "str"),
        16: ("stdin", "bool?"),
        17: ("stdinOnce", "bool?"),
        18: ("tty", "bool?"),
        20: ("terminationMessagePolicy", "str"),
    },
    "ContainerPort": {
        1: ("name", "str"),
        2: ("hostPort", "int?"),
        3: ("containerPort", "int"),
        4: ("protocol", "str"),
        5: ("hostIP", "str"),
    },
    "EnvVar": {1: ("name", "str"), 2: ("value", "str")},
    "ResourceRequirements": {1: ("limits", "{}Quantity"), 2: ("requests", "{}Quantity")},
}


def decode(raw: bytes) -> Object:
    """Return the object of a body.

    Raises ApiError 400 when it is malformed, 415 when it has fields that are not read.
    """
    if not raw.startswith(MAGIC):
        raise bad_request("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        envelope = _message("Unknown", raw[len(MAGIC) :])
        about = envelope["type"]
        if about["kind"] not in MESSAGES:
            raise unsupported_media_type(("application/json", "application/yaml"))
        return {**about, **_message(about["kind"], envelope.get("raw", b""))}
    except (IndexError, KeyError, UnicodeDecodeError, ValueError) as error:
        raise bad_request(f"the protobuf body can't be read: {error}") from None


def _message(name: str, raw: bytes) -> Object:
    known = MESSAGES[name]
    message: Object = {}
    for number, value in _fields(raw):
        if number not in known:
            if value:
                raise unsupported_media_type(("application/json", "application/yaml"))
            continue
        field, type_ = known[number]
        _put(message, field, type_, value)
    return message


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the undecoded value of each field."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        wire = tag & 7
        if wire == VARINT:
            value, at = _varint(raw, at)
            yield tag >> 3, value
            continue
        size, at = _varint(raw, at) if wire == BYTES else ({FIXED64: 8, FIXED32: 4}[wire], at)
        if at + size > len(raw):
            raise ValueError("unexpected end")
        yield tag >> 3, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < LONGEST_VARINT:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004 - the highest bit means that more bytes follow
            return value, at
    raise ValueError("a number is too long")


def _put(message: Object, field: str, type_: str, value: int | bytes) -> None:
    """Decode a value and store it in its field, unless it is unset."""
    if type_.startswith("[]"):
        message.setdefault(field, []).append(_scalar(type_[2:], value))
    elif type_.startswith("{}"):
        entry = dict(_fields(_bytes(value)))
        key = _bytes(entry.get(1, b"")).decode()
        message.setdefault(field, {})[key] = _scalar(type_[2:], entry.get(2, b""))
    else:
        decoded = _scalar(type_.removesuffix("?"), value)
        silent = decoded in ("", None) or (not decoded and type_.endswith("?"))
        if field and not silent:
            message[field] = decoded


def _scalar(type_: str, value: int | bytes) -> Any:
    match type_:
        case "str":
            return _bytes(value).decode()
        case "bool":
            return bool(value)
        case "int":
            return _signed(value)
        case "bytes":
            return base64.b64encode(_bytes(value)).decode()
        case "ignored":
            return None
        case "raw":
            return _bytes(value)
        case "Quantity":
            return _bytes(dict(_fields(_bytes(value))).get(1, b"")).decode()
        case "Time":
            seconds = dict(_fields(_bytes(value))).get(1)
            return timestamp(datetime.fromtimestamp(_signed(seconds), UTC)) if seconds else None
        case "IntOrString":
            parts = dict(_fields(_bytes(value)))
            return _bytes(parts.get(3, b"")).decode() if parts.get(1) else _signed(parts.get(2, 0))
    return _message(type_, _bytes(value))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where a text is expected")  # noqa: TRY004 - the body is wrong, not the program
    return value


def _signed(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("a text where a number is expected")  # noqa: TRY004 - the body is wrong, not the program
    return value - (1 << 64) if value >> 63 else value
