"""One POST to an address that a tenant chose."""

from collections.abc import Mapping

from django.conf import settings
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.core.outbound.address_guard import RefusedError
from scheduler_admin.core.outbound.exchange import UnreachedError, exchange

_TAKEN = range(200, 300)
_LED_ON = range(300, 400)
_NEVER = frozenset({400, 413, 415, 422})
"""The receiver does not take this message, and will not an hour later."""


class UndeliveredError(Exception):
    """A message that did not arrive, as far as we know. ``str()`` of it is a sentence free of secrets."""

    def __init__(self, sentence: str, *, final: bool = False) -> None:
        super().__init__(sentence)
        self.final = final
        """Whether trying again is useless."""


@sensitive_variables()
def post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Send it. Raises UndeliveredError unless the other side says that it has it (2xx)."""
    try:
        reply = exchange("POST", url, body=body, headers=headers, allowed=settings.NOTIFICATION_NETWORKS)
    except (RefusedError, UnreachedError) as error:
        raise UndeliveredError(str(error)) from None
    told = {"host": reply.host, "code": str(reply.status)}
    if reply.status in _LED_ON:
        raise UndeliveredError(_("%(host)s responded with a redirect (%(code)s). Redirects are not followed.") % told)
    if reply.status not in _TAKEN:
        raise UndeliveredError(_("%(host)s responded with %(code)s.") % told, final=reply.status in _NEVER)
