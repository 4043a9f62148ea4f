"""Validates Events: those of the newer kind, which have an eventTime, require more fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.status import Cause, cause

if TYPE_CHECKING:
    from simulator.objects import Object

LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
NEEDED = ("reportingComponent", "reportingInstance", "action", "reason")


def faults(event: Object) -> list[Cause]:
    """Return the errors of an Event in its v1 form, in the API's words."""
    causes = [] if _at_home(event) else [_does_not_match(event)]
    if not event.get("eventTime"):
        return causes
    missing = [field for field in NEEDED if not event.get(field)]
    long = [field for field, most in LONGEST.items() if len(event.get(field) or "") > most]
    return [
        *causes,
        *(cause("FieldValueRequired", "Required value", field) for field in missing),
        *(
            cause("FieldValueInvalid", f'Invalid value: "": can have at most {LONGEST[field]} characters', field)
            for field in long
        ),
    ]


def _at_home(event: Object) -> bool:
    """Return whether it is in the namespace of its object, or in the default one when that object has none."""
    about = (event.get("involvedObject") or {}).get("namespace") or "default"
    return bool(about == event["metadata"]["namespace"])


def _does_not_match(event: Object) -> Cause:
    about = (event.get("involvedObject") or {}).get("namespace") or ""
    message = f'Invalid value: "{about}": does not match event.namespace'
    return cause("FieldValueInvalid", message, "involvedObject.namespace")
