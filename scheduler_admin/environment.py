"""Readers of environment variables for the settings: a wrong value stops the process with the variable's name."""

import os
import re
from ipaddress import IPv4Network, IPv6Network, ip_network

from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured


def read_flag(name: str, default: str = "0") -> bool:
    """Return whether an environment variable is set to 1, true, yes or on."""
    return os.environ.get(name, default).lower() in {"1", "true", "yes", "on"}


def read_number(name: str, default: int) -> int:
    """Return an environment variable as a whole number. Raises ImproperlyConfigured if it is none."""
    text = os.environ.get(name, "") or str(default)
    if not text.isdecimal():
        raise ImproperlyConfigured(f"{name} is {text}, which is not a whole number.")
    return int(text)


def read_choice(name: str, *choices: str) -> str:
    """Return an environment variable, by default the first choice. Raises ImproperlyConfigured if it is no choice."""
    text = os.environ.get(name, "") or choices[0]
    if text not in choices:
        raise ImproperlyConfigured(f"{name} is {text}. Choose {' or '.join(choices)}.")
    return text


def parse_fernet_keys(text: str) -> list[str]:
    """Return the keys of a comma-separated list. Raises ImproperlyConfigured if one is not a Fernet key."""
    keys = [key.strip() for key in text.split(",") if key.strip()]
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:  # the message must not contain the key
            raise ImproperlyConfigured(f"Key {number} of CREDENTIALS_KEY is not a Fernet key.") from None
    return keys


def read_networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Return the networks of a comma-separated list. Raises ImproperlyConfigured if one is not a network."""
    found = []
    for text in filter(None, map(str.strip, os.environ.get(name, "").split(","))):
        try:
            found.append(ip_network(text))
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{name} contains {text}, which is not a network such as 10.1.0.0/16."
            ) from error
    return found


def read_service_account(name: str) -> str:
    """Return ``NAMESPACE/NAME``, or an empty text. Raises ImproperlyConfigured for anything else."""
    text = os.environ.get(name, "")
    if text and not re.fullmatch(r"[-a-z0-9]+/[-.a-z0-9]+", text):
        raise ImproperlyConfigured(f"{name} is {text}, which is not a service account such as scheduler-admin/engine.")
    return text


def parse_address(text: str) -> tuple[str, int] | None:
    """Return host and port of METRICS_LISTEN, or None if it is empty. Raises ImproperlyConfigured if it is wrong."""
    host, _colon, port = text.rpartition(":")
    if text and not (host and port.isdecimal()):
        raise ImproperlyConfigured(f"METRICS_LISTEN is {text}, which is not an address such as 0.0.0.0:9101.")
    return (host, int(port)) if text else None


def read_with_issuer(name: str, *, address: bool = False) -> str:
    """Return a variable that is required once OIDC_ISSUER is set.

    Raises ImproperlyConfigured if it is missing then, or if ``address`` is true and it is not an HTTPS address.
    """
    text = os.environ.get(name, "")
    if not os.environ.get("OIDC_ISSUER"):
        return text
    if not text:
        raise ImproperlyConfigured(f"OIDC_ISSUER is set, so {name} is required. See docs/operations/people.md.")
    if address and not text.startswith("https://") and not read_flag("INSECURE_HTTP"):
        raise ImproperlyConfigured(f"{name} must start with https://.")
    return text
