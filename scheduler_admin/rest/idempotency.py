"""`Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): what is sent again is answered again, not done.

Only what was done is kept: a request that was refused changed nothing, and may be sent again as it is. No answer
that is kept holds a secret (what makes a token takes no key), and of a request only a keyed digest is kept.
"""

import json
import re
from http import HTTPStatus

from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import KeptAnswer, User
from scheduler_admin.accounts.services import idempotency
from scheduler_admin.rest.media import JsonRenderer
from scheduler_admin.rest.problems import Refusal

HEADER = "Idempotency-Key"
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_FORM = re.compile(r"[!-~]{1,255}")
_KEPT_HEADERS = ("ETag", "Location")


class Repeated(Exception):  # noqa: N818 - it is no error
    """The request was answered before, and this is how."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class WrongKey(Refusal):
    """A key that is none."""

    kind = "invalid-header"
    status_code = HTTPStatus.BAD_REQUEST
    default_detail = gettext_lazy("The request has invalid headers.")


class Running(Refusal):
    """The first request with this key is not done yet."""

    kind = "request-running"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy("The same request is still running. Try again later to get its result.")


class AnotherRequest(Refusal):
    """A key that stood for something else."""

    kind = "idempotency-key-reused"
    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_detail = gettext_lazy(
        "This idempotency key was already used for a different request. Use a new key for each request."
    )


def begin(request: Request, *, keeps: bool = True) -> KeptAnswer | None:
    """The place for what this request comes to; None where no key was sent. ``keeps``: whether a key may be sent.

    Raises Repeated with what it came to before, Running, AnotherRequest, or WrongKey.
    """
    user, key = request.user, request.headers.get(HEADER)
    if key is None or request.method not in WRITES or not isinstance(user, User):
        return None
    if not keeps:
        raise WrongKey(
            [
                {
                    "header": HEADER,
                    "detail": _(
                        "The response contains a secret, which is not stored. Send the "
                        "request without an idempotency key."
                    ),
                }
            ]
        )
    if not _FORM.fullmatch(key):
        raise WrongKey(
            [{"header": HEADER, "detail": _("An idempotency key must have 1 to 255 visible ASCII characters.")}]
        )
    fingerprint = _fingerprint(request, user)
    found, ours = idempotency.begin(user=user, key=key, fingerprint=fingerprint, now=timezone.now())
    if ours:
        return found
    if found.fingerprint != fingerprint:
        raise AnotherRequest([{"header": HEADER, "detail": str(AnotherRequest.default_detail)}])
    if found.status is None:
        raise Running([{"header": HEADER, "detail": str(Running.default_detail)}])
    raise Repeated(Response(json.loads(found.body or "null"), status=found.status, headers=found.headers))


def end(answer: KeptAnswer, response: Response) -> None:
    """Keep what was done; of what was refused, or failed, nothing; nor secrets: members named in ``shown_once``."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        idempotency.forget(answer=answer)
        return
    headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
    once = getattr(response, "shown_once", ())
    data = {name: None if name in once else value for name, value in response.data.items()} if once else response.data
    body = JsonRenderer().render(data).decode()
    idempotency.keep(answer=answer, status=response.status_code, headers=headers, body=body)


@sensitive_variables()
def _fingerprint(request: Request, user: User) -> str:
    """Tells requests apart, by their token too: one of less scope learns nothing of another's answers."""
    token = user.token.key if user.token else ""
    said = (request.method or "", request.get_full_path(), request.content_type, request.headers.get("If-Match", ""))
    sent = json.dumps([token, *said]).encode() + request.body
    return salted_hmac("scheduler_admin.rest.idempotency", sent, algorithm="sha256").hexdigest()
