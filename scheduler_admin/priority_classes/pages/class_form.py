"""The form of a priority class: what it shows of one, and the class that it asks for."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from engine.formats.kubernetes.convert import MAY_PREEMPT_ANNOTATION, NEVER, OPT_OUT_ANNOTATION
from engine.formats.kubernetes.priority_classes import with_preemption_annotations
from engine.formats.tree_json.label_lines import PairsError, read_pairs, write_pairs
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import PriorityClass
from scheduler_admin.core.translation import text

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""What ``kubectl apply`` keeps on objects; not for people to write."""
_ASIDE = (OPT_OUT_ANNOTATION, MAY_PREEMPT_ANNOTATION, APPLIED)
"""Annotations that are shown otherwise, or not."""
_NUMBER = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_ON = "on"
"""What a browser sends for a box that is ticked; it sends nothing for one that is not."""
EMPTY = {"preemption_policy": "PreemptLowerPriority", "allow_preemption": _ON}
"""A form for a new class."""


def typed_of(one: PriorityClass) -> dict[str, str]:
    """What the form shows of a class."""
    boxes = {
        "allow_preemption": not one.opted_out,
        "may_preempt": one.may_preempt,
        "global_default": one.global_default,
    }
    return {
        "seen": msgspec.json.encode(one).decode(),
        "description": one.description,
        "labels": write_pairs(one.labels),
        "annotations": write_pairs({key: value for key, value in one.annotations.items() if key not in _ASIDE}),
        **{name: _ON for name, ticked in boxes.items() if ticked},
    }


def seen_class(form: Mapping[str, str]) -> PriorityClass | None:
    """The class as it was when the form was shown; None for a form that is none of ours."""
    try:
        return msgspec.json.decode(form.get("seen", ""), type=PriorityClass)
    except UNDECODABLE:
        return None


def new_class(form: Mapping[str, str]) -> PriorityClass:
    """The class that a form asks for. Raises ValidationError by field."""
    wrong: dict[str, str] = {}
    value = form.get("value", "").strip()
    if not _NUMBER.fullmatch(value):
        wrong["value"] = _("A whole number.")
    policy = form.get("preemption_policy", "")
    if policy not in (NEVER, EMPTY["preemption_policy"]):
        wrong["preemption_policy"] = _("Choose one of the two.")
    bare = PriorityClass(
        name=form.get("name", "").strip(), value=0 if wrong else int(value), never_preempts=policy == NEVER
    )
    return _filled(bare, form, wrong)


def changed_class(before: PriorityClass, form: Mapping[str, str]) -> PriorityClass:
    """The class with what may be changed as the form has it. Raises ValidationError by field."""
    return _filled(before, form, {})


def _filled(one: PriorityClass, form: Mapping[str, str], wrong: dict[str, str]) -> PriorityClass:
    labels, annotations = (_pairs(name, form, wrong) for name in ("labels", "annotations"))
    if set(annotations) & set(_ASIDE):
        wrong["annotations"] = _("The boxes above write %(keys)s.") % {"keys": ", ".join(sorted(_ASIDE[:2]))}
    if wrong:
        raise ValidationError({name: [sentence] for name, sentence in wrong.items()})
    aside = {key: value for key, value in one.annotations.items() if key in _ASIDE}
    # A browser sends line breaks of its own.
    fields: dict[str, Any] = {"description": form.get("description", "").replace("\r\n", "\n").strip()}
    after = msgspec.structs.replace(
        one, **fields, global_default="global_default" in form, labels=labels, annotations={**annotations, **aside}
    )
    return with_preemption_annotations(
        after, opted_out="allow_preemption" not in form, may_preempt="may_preempt" in form
    )


def _pairs(name: str, form: Mapping[str, str], wrong: dict[str, str]) -> dict[str, str]:
    try:
        return read_pairs(form.get(name, ""))
    except PairsError as error:
        wrong[name] = text(error.sentence)
        return {}
