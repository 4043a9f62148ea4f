"""Answers access, identity and token reviews: everything is allowed in a simulated cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.storage.store import Store

REVIEWS = ("selfsubjectaccessreviews", "selfsubjectreviews", "tokenreviews")
USER = {"username": "simulator-admin", "groups": ["system:masters", "system:authenticated"]}


TOKEN = "simulated.{namespace}.{name}"  # noqa: S105 - there are no secrets in a simulated cluster
"""The token of a service account, for the API server's own audience and for all others."""


def review(kind: ApiResource, obj: Object, store: Store) -> Object:
    """Return a SelfSubjectAccessReview, SelfSubjectReview or TokenReview with its answer."""
    match kind.kind:
        case "SelfSubjectAccessReview":
            status: Object = {"allowed": True, "reason": "the simulator allows everything"}
        case "TokenReview":
            status = _bearer(obj.get("spec") or {}, store)
        case _:
            status = {"userInfo": USER}
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}, **obj, "status": status}


def _bearer(spec: Object, store: Store) -> Object:
    mark, _, account = str(spec.get("token", "")).partition(".")
    namespace, _, name = account.partition(".")
    if mark != "simulated" or store.find("serviceaccounts", namespace, name) is None:
        return {"user": {}, "error": "invalid bearer token"}
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    user = {"username": f"system:serviceaccount:{namespace}:{name}", "groups": groups}
    return {"authenticated": True, "user": user, "audiences": spec.get("audiences") or ["https://simulator"]}
