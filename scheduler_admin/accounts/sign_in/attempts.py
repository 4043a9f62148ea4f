"""What counts as a wrong password, and from where: django-axes locks out by it, see "AXES" in the settings."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.http import HttpRequest
from rest_framework.throttling import BaseThrottle


def address_of(request: HttpRequest) -> str | None:
    """The client's address, by the proxy where there is one, as for requests to the REST API; None: it has none.

    X-Forwarded-For is believed for what the site's own proxy added alone. Of IPv6 it is the network of 64 bits: whoever
    has one address has all of these.
    """
    if "REMOTE_ADDR" not in request.META:
        return None
    try:
        found = ip_address(BaseThrottle().get_ident(request))  # type: ignore[arg-type]  # it reads META alone
    except ValueError:  # a socket's, or a proxy that writes something else
        return None
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False).network_address)


def without_password(_request: HttpRequest, credentials: dict[str, Any] | None) -> bool:
    """Whether somebody comes by another door: who guesses there has to guess what nobody can.

    A provider that sends back people who are nothing here must not lock out the office that they sit in.
    """
    return not (credentials or {}).get("username")
