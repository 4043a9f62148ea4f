"""One POST to an address that a tenant chose: bounded in time and size, no redirect followed, no proxy asked."""

import contextlib
import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from threading import Timer
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.notifications.delivery.address_guard import Address, RefusedError, host_and_port, resolve

LASTS_S = 8.0
"""All of it, however slowly the other side answers."""
_CONNECTING_S = 4.0
_TRIED = 2
"""Of the addresses of a name."""
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
        host, port = host_and_port(url)
        addresses = resolve(host, port)
    except RefusedError as error:
        raise UndeliveredError(str(error)) from None
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    code = _answer(host, port, addresses, target, body, headers, secure=parts.scheme == "https")
    if code in _LED_ON:
        raise UndeliveredError(
            _("%(host)s responded with a redirect (%(code)s). Redirects are not followed.") % _told(host, code)
        )
    if code not in _TAKEN:
        raise UndeliveredError(_("%(host)s responded with %(code)s.") % _told(host, code), final=code in _NEVER)


def _told(host: str, code: int) -> dict[str, str]:
    return {"host": host, "code": str(code)}


@sensitive_variables()
def _answer(
    host: str,
    port: int,
    addresses: list[Address],
    target: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    secure: bool,
) -> int:
    """The status of the answer; its body is not read."""
    connection = HTTPConnection(host, port)
    connection.default_port = 443 if secure else 80
    watch = Timer(LASTS_S - _CONNECTING_S, _end, (connection,))
    watch.daemon = True
    try:
        # Its own would ask again where the name leads.
        connection.sock = plain = _connected(addresses, port)
        if secure:
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
        watch.start()
        if isinstance(connection.sock, ssl.SSLSocket):
            connection.sock.do_handshake()
        connection.request("POST", target, body, dict(headers))
        return connection.getresponse().status
    except ssl.SSLCertVerificationError as error:
        sentence = _("The certificate of %(host)s is not valid: %(why)s.")
        raise UndeliveredError(sentence % {"host": host, "why": error.verify_message}) from None
    except (OSError, HTTPException, UnicodeError):  # some of which quote the address
        sentence = _("%(host)s could not be reached or did not respond in time.")
        raise UndeliveredError(sentence % {"host": host}) from None
    finally:
        watch.cancel()
        connection.close()


def _connected(addresses: list[Address], port: int) -> socket.socket:
    """A connection to the first address that takes one. Raises OSError."""
    error = OSError()
    for address in addresses[:_TRIED]:
        try:
            made = socket.create_connection((str(address), port), timeout=_CONNECTING_S / _TRIED)
        except OSError as failed:
            error = failed
        else:
            made.settimeout(LASTS_S - _CONNECTING_S)
            return made
    raise error


def _end(connection: HTTPConnection) -> None:
    """Give up on who answers too slowly: whoever reads from it finds its end."""
    with contextlib.suppress(OSError):  # it has ended by itself
        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)  # an SSLSocket's own would trip who reads from it
