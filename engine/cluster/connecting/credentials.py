"""Turns connection settings into what signing in needs: an address, the trusted CA, and credentials."""

import os
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine.cluster.connecting.expiry import certificate_end, token_end
from engine.cluster.connecting.kubeconfig import ContextEntry, Kubeconfig
from engine.cluster.connecting.plugins import Grant, sign_in
from engine.cluster.errors import SettingsError
from engine.model.message import gettext_noop

POD_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder where a pod finds the token and the CA of its service account."""
_NOT_OURS = ("auth-provider", "as", "as-uid", "as-groups", "as-user-extra")


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """The way to reach a cluster. Exactly one of kubeconfig_path, kubeconfig_text, in_cluster and address is given."""

    kubeconfig_path: str = ""
    """A file on this machine; it may refer to credential plugins and further files."""
    kubeconfig_text: str = field(default="", repr=False)
    """The content of a kubeconfig.

    It comes from a form or the database, so it may refer to neither commands nor files.
    """
    context: str = ""
    """The context of the kubeconfig to use; empty: its current one."""
    in_cluster: bool = False
    """Whether to use the service account of the pod that this process runs in."""
    address: str = ""
    """``https://host:port``, used with ``token`` and ``ca``."""
    token: str = field(default="", repr=False)
    ca: str = ""
    """PEM certificates that the server's certificate is verified with; empty: those of the system."""
    verify_tls: bool = True
    """Whether to verify the server's certificate; False only for a cluster on this machine."""
    timeout_s: float = 10.0
    """How many seconds a request may take by default; a lease must last longer."""


@dataclass(frozen=True, kw_only=True)
class LoadedCredentials:
    """Credentials as they were loaded once."""

    address: str
    kind: str = "anonymous"
    """The kind: ``token``, ``token-file``, ``client-certificate``, ``program``, ``password`` or ``anonymous``."""
    authorization: str = field(default="", repr=False)
    """The value of the Authorization header; empty when a certificate is enough."""
    token_file: Path | None = None
    """The file that the token comes from, if another program rewrites it."""
    certificate: str = ""
    """The client's certificate in PEM, with its ``key``."""
    key: str = field(default="", repr=False)
    ca: str = ""
    verify_tls: bool = True
    server_name: str = ""
    """The name that the server's certificate is for, where it differs from the host of the address."""
    proxy: str = field(default="", repr=False)
    ends_at: datetime | None = None
    """When the certificate, the token or the program's credentials expire; None where that is unknown."""
    renews: bool = False
    """Whether a program gives new credentials when these have expired."""


def load(settings: ConnectionSettings) -> LoadedCredentials:
    """Read files and run programs, as the settings say. Raises SettingsError with a sentence that quotes no secret."""
    ways = (settings.kubeconfig_path, settings.kubeconfig_text, settings.in_cluster, settings.address)
    if sum(map(bool, ways)) != 1:
        raise SettingsError(
            gettext_noop(
                "A connection needs one of these: a kubeconfig file, kubeconfig text, in-cluster "
                "credentials, or an address."
            )
        )
    try:
        return _load(settings)
    except SettingsError:
        raise
    except Exception as error:  # noqa: BLE001 - any part of a document from a user may have any type
        why = type(error).__name__  # and not its message, which may contain the token
        raise SettingsError(gettext_noop("The credentials cannot be loaded: %(why)s."), why=why) from None


def _load(settings: ConnectionSettings) -> LoadedCredentials:
    if settings.in_cluster:
        return _of_pod()
    if settings.address:
        return _with_token(
            settings.token, address=_address(settings.address), ca=settings.ca, verify_tls=settings.verify_tls
        )
    path, text = settings.kubeconfig_path, settings.kubeconfig_text
    return _of_entry((Kubeconfig.at(path) if path else Kubeconfig.of(text)).entry(settings.context))


def as_kubeconfig(address: str, token: str, ca: str = "") -> dict[str, Any]:
    """Return a kubeconfig with one context for an address with a token, named like the host. Raises SettingsError."""
    name = urlsplit(_address(address)).hostname or ""
    cluster = {"server": address} | ({"certificate-authority-data": b64encode(ca.encode()).decode()} if ca else {})
    return _document(name, cluster, {"token": token})


def single_context(entry: ContextEntry) -> dict[str, Any]:
    """Return a kubeconfig that contains only the given context."""
    return _document(entry.context, dict(entry.cluster), dict(entry.user))


def _document(name: str, cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
    }


def token_in(path: Path) -> str:
    """Return the token that a file holds. Raises SettingsError."""
    token = _file(path).strip()
    if not token:
        raise SettingsError(gettext_noop("%(path)s is empty."), path=str(path))
    return token


def _of_pod() -> LoadedCredentials:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")
    token_file = POD_FOLDER / "token"
    if not host or not port or not token_file.exists():
        raise SettingsError(
            gettext_noop("Scheduler Admin does not run in a pod, so it has no service account. Provide a kubeconfig.")
        )
    address = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return _with_token(token_in(token_file), address=address, ca=_file(POD_FOLDER / "ca.crt"), token_file=token_file)


def _with_token(token: str, **known: Any) -> LoadedCredentials:
    if not token:
        return LoadedCredentials(**known)
    kind = "token-file" if known.get("token_file") else "token"
    return LoadedCredentials(kind=kind, authorization=bearer(token), ends_at=token_end(token), **known)


def _of_entry(entry: ContextEntry) -> LoadedCredentials:
    cluster, user = entry.cluster, entry.user
    refused = [name for name in _NOT_OURS if user.get(name)]
    if refused:
        message = gettext_noop(
            "Context %(name)s uses %(what)s, which is not supported. Use a token, a client certificate, "
            "or a credential plugin (exec)."
        )
        raise SettingsError(message, name=entry.context, what=refused[0])
    known: dict[str, Any] = {
        "address": _address(str(cluster.get("server") or "")),
        "ca": _data(cluster, "certificate-authority", entry.cluster_folder),
        "verify_tls": not cluster.get("insecure-skip-tls-verify"),
        "server_name": str(cluster.get("tls-server-name") or ""),
        "proxy": str(cluster.get("proxy-url") or ""),
    }
    certificate = _data(user, "client-certificate", entry.user_folder)
    if certificate:
        known |= {"certificate": certificate, "key": _data(user, "client-key", entry.user_folder)}
    if user.get("tokenFile"):
        path = entry.user_folder / str(user["tokenFile"])
        return _with_token(token_in(path), token_file=path, **known)
    if user.get("token"):
        return _with_token(str(user["token"]), **known)
    if user.get("exec") and not certificate:
        return _by_program(sign_in(entry), known)
    if user.get("username"):
        pair = b64encode(f"{user['username']}:{user.get('password') or ''}".encode()).decode()
        return LoadedCredentials(kind="password", authorization=f"Basic {pair}", **known)
    if certificate:
        return LoadedCredentials(kind="client-certificate", ends_at=certificate_end(certificate), **known)
    return LoadedCredentials(**known)


def _by_program(grant: Grant, known: dict[str, Any]) -> LoadedCredentials:
    ends = grant.expires_at or certificate_end(grant.certificate) or token_end(grant.token)
    return LoadedCredentials(
        kind="program",
        authorization=bearer(grant.token) if grant.token else "",
        **known | {"certificate": grant.certificate, "key": grant.key},
        ends_at=ends,
        renews=True,
    )


def bearer(token: str) -> str:
    """Return the header's value for a token. Raises SettingsError for characters that no header can hold."""
    if not token.isprintable() or not token.isascii():
        raise SettingsError(gettext_noop("The token contains invalid characters."))
    return f"Bearer {token}"


def _address(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        raise SettingsError(gettext_noop("The cluster address is not a valid URL.")) from None
    if not address.startswith(("https://", "http://")) or not parts.hostname:
        raise SettingsError(gettext_noop("The cluster address must start with https://."))
    if parts.username or parts.password:  # addresses are displayed and stored
        raise SettingsError(gettext_noop("The cluster address must not contain a username or password."))
    return address.rstrip("/")


def _data(section: Any, name: str, folder: Path) -> str:
    """Return what a kubeconfig embeds under ``name-data``, or the content of the file that it refers to."""
    embedded = section.get(f"{name}-data")
    try:
        if embedded:
            return b64decode(str(embedded), validate=True).decode()
    except ValueError:
        raise SettingsError(
            gettext_noop("%(name)s in the kubeconfig is not base64-encoded PEM."), name=f"{name}-data"
        ) from None
    return _file(folder / str(section[name])) if section.get(name) else ""


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = str(error.strerror) if isinstance(error, OSError) else "not UTF-8"
        raise SettingsError(gettext_noop("%(path)s cannot be read: %(why)s."), path=str(path), why=why) from None
