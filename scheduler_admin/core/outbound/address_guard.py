"""Which addresses somebody may make this site call: none that only this machine, or its network, can reach.

Asked of every address that a name stands for, at the moment of connecting, and then that very address is connected to:
a name that means another address a moment later gains nothing.
"""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from scheduler_admin.core import limits

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]
"""Private networks that may be called all the same."""
LONGEST = limits.CALLED_ADDRESS
_NOT_PUBLIC = tuple(map(ip_network, ("168.63.129.16/32", "192.0.0.0/24", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48")))
"""Public as far as ``is_global`` knows: metadata of Azure and of Oracle, and three ways to write an IPv4 address."""
_TRANSLATED = ip_network("64:ff9b::/96")
"""NAT64: an IPv4 address in its last 32 bits."""


class RefusedError(Exception):
    """An address that nothing is sent to. ``str()`` of it is a sentence without the address' secrets."""


def host_and_port(url: str) -> tuple[str, int]:
    """Return where an address leads, by name. Raises RefusedError for one that can't be used."""
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise RefusedError(_("Enter a valid URL: one line of ASCII characters, at most %(n)s long.") % {"n": LONGEST})
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        raise RefusedError(_("Enter a valid URL.")) from None
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.INSECURE_HTTP):
        raise RefusedError(_("The URL must start with https://."))
    if not host or parts.username is not None or parts.password is not None or parts.fragment:
        raise RefusedError(_("The URL must have a host, and no user name, password, or fragment (#)."))
    return host, port


def check_url(url: str, allowed: Networks) -> str:
    """Return the host of an address, as it may be shown. Raises RefusedError for what can be told without asking."""
    host, _port = host_and_port(url)
    try:
        address = ip_address(host)
    except ValueError:
        return host  # what the name stands for is seen whenever something is sent
    if not may_connect(address, allowed):
        sentence = _("%(host)s is in a private network, to which this site does not connect.")
        raise RefusedError(sentence % {"host": host})
    return host


def resolve(host: str, port: int, allowed: Networks) -> list[Address]:
    """Return the addresses of a host that may be connected to. Raises RefusedError when there are none.

    Whether a name is not known or leads inside is not told apart: else it could be asked for which names there are.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        found = []
    addresses = [ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    usable = [address for address in dict.fromkeys(addresses) if may_connect(address, allowed)]
    if not usable:
        sentence = _("%(host)s can’t be resolved, or it is in a private network, to which this site does not connect.")
        raise RefusedError(sentence % {"host": host})
    return usable


def may_connect(address: Address, allowed: Networks) -> bool:
    """Whether an address is one of the Internet, or of the ``allowed`` networks."""
    inner = _inner(address)
    if any(_holds(network, each) for network in allowed for each in (address, inner)):
        return True
    return all(_is_public(each) for each in (address, inner))


def _is_public(address: Address) -> bool:
    local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not (
        address.is_multicast or local or any(_holds(each, address) for each in _NOT_PUBLIC)
    )


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address only wraps; else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _holds(network: IPv4Network | IPv6Network, address: Address) -> bool:
    return network.version == address.version and address in network
