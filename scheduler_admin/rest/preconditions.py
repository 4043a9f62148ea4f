"""If-Match and If-None-Match of a request that writes (RFC 9110), so that nobody overwrites what they have not read."""

from rest_framework.request import Request

from scheduler_admin.rest import problems


def tags(header: str) -> set[str]:
    """The entity tags of a header; ``*`` stands for any."""
    return {part.strip() for part in header.split(",") if part.strip()}


def check(request: Request, current: str | None, *, required: bool) -> None:
    """Hold a request against the ETag of what it would replace; None: nothing is there.

    Raises Overtaken when a condition does not hold, NoPrecondition when one is ``required``, none was given and
    something is there.
    """
    match, none = (tags(request.headers.get(name, "")) for name in ("If-Match", "If-None-Match"))
    if match and (current is None or not match & {current, "*"}):
        raise problems.Overtaken(current)
    if current is not None and none & {current, "*"}:
        raise problems.Overtaken(current)
    if required and current is not None and not match:
        raise problems.NoPrecondition
