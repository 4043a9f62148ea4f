"""Questions about oneself that clients ask before they act: everything is allowed in a simulated cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.simulator.kinds import Kind
    from engine.simulator.objects import Object

REVIEWS = ("selfsubjectaccessreviews", "selfsubjectreviews")
USER = {"username": "simulator-admin", "groups": ["system:masters", "system:authenticated"]}


def review(kind: Kind, obj: Object) -> Object:
    """Return a SelfSubjectAccessReview or SelfSubjectReview with its answer."""
    allowed = kind.kind == "SelfSubjectAccessReview"
    status = {"allowed": True, "reason": "the simulator allows everything"} if allowed else {"userInfo": USER}
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}, **obj, "status": status}
