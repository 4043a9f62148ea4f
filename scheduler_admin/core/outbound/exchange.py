"""One request to an address that somebody chose: bounded in time and size, no redirect followed, no proxy asked."""

import contextlib
import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from threading import Timer
from typing import NamedTuple
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.core.outbound.address_guard import Address, Networks, host_and_port, resolve

LASTS_S = 8.0
"""All of it, however slowly the other side answers."""
_CONNECTING_S = 4.0
_TRIED = 2
"""Of the addresses of a name."""


class UnreachedError(Exception):
    """Nobody answered, or not as an answer has to be. ``str()`` of it is a sentence free of secrets."""


class Reply(NamedTuple):
    """What the other side answered."""

    host: str
    status: int
    body: bytes


@sensitive_variables()
def exchange(
    method: str,
    url: str,
    *,
    allowed: Networks,
    headers: Mapping[str, str],
    body: bytes = b"",
    most_bytes: int = 0,
) -> Reply:
    """Send a request and return the answer, with as much of its body as ``most_bytes``.

    ``allowed``: private networks that may be called. Raises RefusedError for an address that nothing is sent to,
    UnreachedError where nobody answers in time, or with more.
    """
    host, port = host_and_port(url)
    addresses = resolve(host, port, allowed)
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = HTTPConnection(host, port)
    connection.default_port = 443 if parts.scheme == "https" else 80
    watch = Timer(LASTS_S - _CONNECTING_S, _end, (connection,))
    watch.daemon = True
    try:
        # Its own would ask again where the name leads.
        connection.sock = plain = _connected(addresses, port)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
        watch.start()
        if isinstance(connection.sock, ssl.SSLSocket):
            connection.sock.do_handshake()
        connection.request(method, target, body or None, dict(headers))
        response = connection.getresponse()
        held = response.read(most_bytes + 1) if most_bytes else b""
    except ssl.SSLCertVerificationError as error:
        sentence = _("The certificate of %(host)s is not valid: %(why)s.")
        raise UnreachedError(sentence % {"host": host, "why": error.verify_message}) from None
    except (OSError, HTTPException, UnicodeError):  # some of which quote the address
        sentence = _("%(host)s could not be reached or did not respond in time.")
        raise UnreachedError(sentence % {"host": host}) from None
    finally:
        watch.cancel()
        connection.close()
    if len(held) > most_bytes:
        raise UnreachedError(_("The response of %(host)s is too large.") % {"host": host})
    return Reply(host, response.status, held)


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
