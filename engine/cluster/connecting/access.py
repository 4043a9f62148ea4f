"""Keeps authenticated access to an API server: credentials are reloaded when they expire or are rejected."""

import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from engine.cluster.connecting.credentials import LoadedCredentials, bearer, token_in
from engine.cluster.connecting.expiry import certificate_end, token_end
from engine.cluster.connecting.pools import with_large_buffers
from engine.cluster.errors import SettingsError
from engine.cluster.timing import Clock
from engine.cluster.watching.supervised import SIGNING_IN, note_failure
from engine.model.message import gettext_noop

POOL_SIZE = 30
"""Pooled connections: a watch for each kind that is served, and a few requests beside them."""
_SELDOM_S = 5.0
"""Credentials that are rejected are reloaded at most once in this many seconds."""
_REREAD_S = 60.0
"""A token file is read again after this many seconds, as it is rewritten before its token expires."""
_GLANCE_S = 3.0
_HTTPS = 443
_AHEAD = timedelta(seconds=10)
"""How long before their end the credentials from a program are replaced."""


@dataclass(frozen=True)
class AuthenticatedSession:
    """The credentials in use, with their connection pool."""

    credentials: LoadedCredentials
    pool: urllib3.PoolManager = field(repr=False)
    read_s: float
    """When (steady clock) the token file was read."""


class Access:
    """The access to one API server; safe to share between threads."""

    def __init__(self, load: Callable[[], LoadedCredentials], clock: Clock | None = None) -> None:
        """Load the credentials. Raises SettingsError."""
        self._load = load
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._session = self._opened(load())
        self._tried_s = float("-inf")
        self._loading: threading.Thread | None = None
        self._trouble: SettingsError | None = None
        self.moved = False
        """Whether the credentials now lead to another address than at first: its watchers must start over."""

    @property
    def credentials(self) -> LoadedCredentials:
        """Return the credentials in use."""
        return self._session.credentials

    @property
    def address(self) -> str:
        """Return the address of the API server, which is no secret."""
        return self.credentials.address

    @property
    def ended_at(self) -> datetime | None:
        """Return when the credentials expired, if they have and no program renews them."""
        ends = self.credentials.ends_at
        return ends if ends is not None and ends <= self._now() else None

    def session(self, within_s: float) -> AuthenticatedSession:
        """Return the session to sign in with, reloaded if needed.

        Raises SettingsError if that fails or takes longer.
        """
        session = self._session
        ends = session.credentials.ends_at
        if session.credentials.renews and ends is not None and ends - _AHEAD <= self._now():
            return self.renew(session, within_s) or session
        path = session.credentials.token_file
        if path is not None and self._clock.steady_s() - session.read_s >= _REREAD_S:
            return self._reread(session, path)
        return session

    def reload(self, within_s: float) -> None:
        """Load the credentials again, though nobody has rejected them. Raises SettingsError; see ``renew``."""
        self.renew(self._session, within_s)

    def renew(self, used: AuthenticatedSession, within_s: float) -> AuthenticatedSession | None:
        """Return a session other than ``used``, which was rejected or expired; None where there is none (yet).

        Raises SettingsError when loading fails or takes longer than ``within_s`` seconds; loading continues in the
        background.
        """
        with self._lock:
            if self._session is not used:
                return self._session
            if self._loading is None:
                if self._clock.steady_s() - self._tried_s < _SELDOM_S:
                    return self._outcome(used)
                self._loading = threading.Thread(target=self._reload, name=SIGNING_IN, daemon=True)
                self._loading.start()
            loading = self._loading
        loading.join(within_s)
        if loading.is_alive():
            raise SettingsError(
                gettext_noop("Signing in is taking longer than one request allows. It continues in the background.")
            )
        return self._outcome(used)

    def _outcome(self, used: AuthenticatedSession) -> AuthenticatedSession | None:
        if self._trouble:
            raise SettingsError(self._trouble.sentence)
        return self._session if self._session is not used else None

    def _reread(self, session: AuthenticatedSession, path: Path) -> AuthenticatedSession:
        """Return the session with the token that its file holds now; keep the former token while there is none."""
        credentials = session.credentials
        with suppress(SettingsError):
            token = token_in(path)
            credentials = replace(credentials, authorization=bearer(token), ends_at=token_end(token))
        with self._lock:
            if self._session is session:
                self._session = replace(session, credentials=credentials, read_s=self._clock.steady_s())
            return self._session

    def _reload(self) -> None:
        trouble, session = None, self._session
        try:
            loaded = self._load()
            if loaded.address != self.address:
                self.moved = True
                message = gettext_noop("The credentials now point to another API server: %(new)s instead of %(old)s.")
                raise SettingsError(message, new=loaded.address, old=self.address)  # noqa: TRY301 - as load raises
            if loaded != session.credentials:
                session = self._opened(loaded)
        except SettingsError as error:
            trouble = error
        except Exception as error:  # noqa: BLE001 - threads that wait for this one would wait forever
            note_failure(SIGNING_IN, error)
            message = gettext_noop("Signing in failed with an unexpected error (%(why)s). See the log for details.")
            trouble = SettingsError(message, why=type(error).__name__)
        with self._lock:
            self._session, self._trouble = session, trouble
            self._tried_s, self._loading = self._clock.steady_s(), None

    def _opened(self, credentials: LoadedCredentials) -> AuthenticatedSession:
        return AuthenticatedSession(credentials, _pool(credentials), self._clock.steady_s())

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.wall_ms() / 1000, UTC)


def server_end(address: str) -> datetime | None:
    """Return when the certificate of a server expires; None when it shows none."""
    parts = urlsplit(address)
    try:
        pem = ssl.get_server_certificate((parts.hostname or "", parts.port or _HTTPS), timeout=_GLANCE_S)
    except (OSError, ValueError):
        return None
    return certificate_end(pem)


def _pool(credentials: LoadedCredentials) -> urllib3.PoolManager:
    options: dict[str, Any] = {"maxsize": POOL_SIZE, "ssl_context": _tls(credentials)}
    options["cert_reqs"] = "CERT_REQUIRED" if credentials.verify_tls else "CERT_NONE"
    if credentials.server_name:
        options["server_hostname"] = credentials.server_name
    proxy = credentials.proxy or _proxy(credentials.address)
    if not proxy:
        return with_large_buffers(urllib3.PoolManager(**options))
    try:
        return with_large_buffers(urllib3.ProxyManager(proxy, **options))
    except (urllib3.exceptions.HTTPError, ValueError):
        raise SettingsError(gettext_noop("The proxy in the kubeconfig cannot be used.")) from None


def _proxy(address: str) -> str:
    """Return the proxy for an address according to $HTTPS_PROXY and $NO_PROXY."""
    parts = urlsplit(address)
    if proxy_bypass(parts.netloc):
        return ""
    return getproxies().get(parts.scheme, "")


def _tls(credentials: LoadedCredentials) -> ssl.SSLContext:
    try:
        # The text between the certificates may be in any language; Python requires ASCII.
        context = ssl.create_default_context(cadata=credentials.ca.encode("ascii", "ignore").decode() or None)
    except (ssl.SSLError, ValueError):
        raise SettingsError(gettext_noop("The CA is not a PEM certificate.")) from None
    if not credentials.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if credentials.certificate:
        try:
            with _as_file(f"{credentials.certificate}\n{credentials.key}".encode()) as path:
                context.load_cert_chain(path, password="")  # an encrypted key fails instead of asking at a terminal
        except (ssl.SSLError, OSError):
            message = gettext_noop(
                "The client certificate and key cannot be used. They are not in PEM format, or they do not match."
            )
            raise SettingsError(message) from None
    return context


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Yield a path from which OpenSSL can read a key; in memory where possible, as no key should be on a disk."""
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    descriptor = os.memfd_create("credentials")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{descriptor}"
