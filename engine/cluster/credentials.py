"""From connection settings to an authenticated HTTP pool.

The ``kubernetes`` client reads kubeconfig files, runs credential plugins and renews tokens. Importing it costs over
20 MiB, so only connections that need it do; an address with a token does not.
"""

import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import urllib3

from engine.cluster.errors import SettingsError
from engine.formats.notes import gettext_noop

POOL_SIZE = 12
"""Kept connections: five watches and a few requests beside them."""

_FROM_ELSEWHERE = ("exec", "auth-provider", "tokenFile", "client-certificate", "client-key", "certificate-authority")


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """How to reach a cluster. Exactly one of kubeconfig_path, kubeconfig_text, in_cluster and address is given."""

    kubeconfig_path: str = ""
    """A file on this machine; it may name credential plugins and further files."""
    kubeconfig_text: str = field(default="", repr=False)
    """A kubeconfig's content. It comes from a form or the database, so it may name neither commands nor files."""
    context: str = ""
    """Which context of the kubeconfig; empty: its current one."""
    in_cluster: bool = False
    """Use the service account of the pod that we run in."""
    address: str = ""
    """``https://host:port``, used with ``token`` and ``ca``."""
    token: str = field(default="", repr=False)
    ca: str = ""
    """PEM certificates that the server's is checked against; empty: the system's."""
    verify_tls: bool = True
    """False only for a cluster on this very machine."""
    timeout_s: float = 10.0
    """Seconds a request may take when the caller does not say; a lease must outlast it."""


@dataclass(frozen=True)
class Access:
    """An authenticated way to an API server."""

    address: str
    pool: urllib3.PoolManager = field(repr=False)
    authorization: Callable[[], str] = field(repr=False)
    """The header's value, renewed where the credentials say how; empty when a certificate is enough."""


def open_access(settings: ConnectionSettings) -> Access:
    """Load the credentials. Raises SettingsError with a sentence that quotes none of them."""
    ways = (settings.kubeconfig_path, settings.kubeconfig_text, settings.in_cluster, settings.address)
    if sum(map(bool, ways)) != 1:
        raise SettingsError(
            gettext_noop("A connection needs one of: a kubeconfig file, its text, in-cluster, an address.")
        )
    if settings.address:
        return _by_address(settings)
    try:
        return _by_configuration(settings)
    except SettingsError:
        raise
    except Exception as error:  # noqa: BLE001 - plugins and parsers raise anything
        # Parsers quote the line that they stumble over, which may be the token: only the kind of error is told.
        known = type(error).__name__ == "ConfigException" and not settings.kubeconfig_text
        told = str(error) if known else type(error).__name__
        raise SettingsError(gettext_noop("The credentials can't be loaded: %(why)s."), why=told.rstrip(".")) from None


def _by_address(settings: ConnectionSettings) -> Access:
    if not settings.address.startswith(("https://", "http://")):
        raise SettingsError(gettext_noop("The address of a cluster begins with https://."))
    try:
        context = ssl.create_default_context(cadata=settings.ca or None)
    except ssl.SSLError:
        raise SettingsError(gettext_noop("The CA is not a PEM certificate.")) from None
    if not settings.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    required = "CERT_REQUIRED" if settings.verify_tls else "CERT_NONE"
    pool = urllib3.PoolManager(maxsize=POOL_SIZE, ssl_context=context, cert_reqs=required)
    header = f"Bearer {settings.token}" if settings.token else ""
    return Access(settings.address.rstrip("/"), pool, lambda: header)


def _by_configuration(settings: ConnectionSettings) -> Access:
    from kubernetes.client.configuration import Configuration  # noqa: PLC0415 - dear, see above
    from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415
    from kubernetes.config import incluster_config, kube_config  # noqa: PLC0415

    configuration = Configuration()
    configuration.connection_pool_maxsize = POOL_SIZE
    if settings.in_cluster:
        incluster_config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]
    else:
        path, text, context = settings.kubeconfig_path, settings.kubeconfig_text, settings.context or None
        load = kube_config.load_kube_config if path else kube_config.load_kube_config_from_dict
        source = path or _self_contained(text)
        load(source, context, configuration, persist_config=False)  # type: ignore[no-untyped-call]
    lock = threading.Lock()

    def authorization() -> str:
        with lock:  # renewing changes the configuration, and many threads ask
            return configuration.get_api_key_with_prefix("BearerToken", alias="authorization") or ""

    return Access(configuration.host.rstrip("/"), RESTClientObject(configuration).pool_manager, authorization)


def _self_contained(text: str) -> dict[str, Any]:
    """A kubeconfig that needs nothing but itself: whoever may edit a cluster must not run commands on our machine."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only this way in needs it

    parsed = YAML(typ="safe", pure=True).load(text)
    if not isinstance(parsed, dict):
        raise SettingsError(gettext_noop("The kubeconfig is not a mapping."))
    for part, inner in (("users", "user"), ("clusters", "cluster")):
        for entry in parsed.get(part) or ():
            named = [key for key in _FROM_ELSEWHERE if key in (entry.get(inner) or {})]
            if named:
                raise SettingsError(
                    gettext_noop(
                        "The kubeconfig names %(name)s: only a file on the server may refer to commands or other "
                        "files; embed the data (kubectl config view --flatten --raw)."
                    ),
                    name=named[0],
                )
    return parsed
