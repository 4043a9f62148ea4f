"""ETag, If-Match and If-None-Match (RFC 9110), so that nobody overwrites what they have not read."""

from typing import Any, ClassVar

from rest_framework.request import Request

from scheduler_admin.rest import problems


def tags(header: str) -> set[str]:
    """Return the opaque tags of a header, each as ``opaque`` has it; ``*`` stands for any."""
    return {opaque(part.strip()) for part in header.split(",") if part.strip()}


def opaque(tag: str) -> str:
    """Return a tag without the mark of a weak one.

    Whatever compresses an answer makes its tag weak. It stands for what the answer says, and not for its bytes, so a
    client may send it back as it came.
    """
    return tag.removeprefix("W/")


def check(request: Request, current: str | None, *, required: bool) -> None:
    """Hold a request against the ETag of what it would replace; None: nothing is there.

    Raises Overtaken when a condition does not hold, NoPrecondition when one is ``required``, none was given and
    something is there.
    """
    match, none = (tags(request.headers.get(name, "")) for name in ("If-Match", "If-None-Match"))
    if match and (current is None or not match & {opaque(current), "*"}):
        raise problems.Overtaken(current)
    if current is not None and none & {opaque(current), "*"}:
        raise problems.Overtaken(current)
    if required and current is not None and not match:
        raise problems.NoPrecondition


class Tagged:
    """A view of something that is read with an ETag, and changed only as it was read.

    The OpenAPI document says so of every operation of the view that reads or changes it.
    """

    request: Request
    etag_description: ClassVar[str] = "Changes with the answer; goes into If-Match."
    if_match_description: ClassVar[str] = "The ETag of what this changes."
    deletes_unread: ClassVar[bool] = False
    """Whether ``DELETE`` works without ``If-Match``, too. A stale one is refused all the same."""

    def tag_of(self, found: Any) -> str:
        """Return the ETag of something, quoted."""
        raise NotImplementedError

    def headers_of(self, found: Any) -> dict[str, str]:
        """Return the headers of an answer that shows something as it is now."""
        return {"ETag": self.tag_of(found)}

    def check_read(self, found: Any) -> None:
        """Check that the request was made for something as it is now.

        Raises Overtaken where it has changed since, NoPrecondition without an If-Match that has to be there.
        """
        required = not (self.deletes_unread and self.request.method == "DELETE")
        check(self.request, self.tag_of(found), required=required)
