"""Runs credential plugins: programs in a kubeconfig that print credentials (client.authentication.k8s.io)."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import Any

import msgspec

from engine.cluster.connecting.kubeconfig import ContextEntry
from engine.cluster.errors import SettingsError
from engine.formats.undecodable import UNDECODABLE
from engine.model.message import gettext_noop

LIMIT_S = 15.0
"""How many seconds a program may take."""
_MOST_BYTES = 1_000_000
"""How many bytes a program may print: a token or a certificate with its key is a few thousand."""
_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_HANDED_ON = frozenset(
    {
        *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "TZ", "USER"),
        *("SSL_CERT_DIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "KUBECONFIG", "KUBECACHEDIR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        "USE_GKE_GCLOUD_AUTH_PLUGIN",
    }
)
_HANDED_ON_BY_PREFIX = ("LC_", "XDG_", "AWS_", "AZURE_", "ARM_", "CLOUDSDK_", "GOOGLE_", "OCI_", "OS_", "VAULT_")
"""The prefixes of the environment variables that credential plugins receive, besides the names above.

They include where programs run, and what the plugins of cloud providers look for. A kubeconfig sets any others
(``env``).
"""
_ITS_SETTINGS = "client.authentication.k8s.io/exec"


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status


@dataclass(frozen=True)
class Grant:
    """The credentials that a program printed."""

    token: str = field(default="", repr=False)
    certificate: str = ""
    key: str = field(default="", repr=False)
    expires_at: datetime | None = None


def sign_in(entry: ContextEntry) -> Grant:
    """Run the program of a context's user. Raises SettingsError, after LIMIT_S seconds at the latest.

    The program's output is never quoted: it may contain secrets.
    """
    spec = _spec(entry)
    command, environment = _command(entry, spec), _environment(entry, spec)
    try:
        with subprocess.Popen(  # noqa: S603 - the kubeconfig is a file on this machine
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=entry.user_folder,
            env=environment,
            start_new_session=True,  # so that its child processes end with it
        ) as process:
            output = _printed(process, command[0])
    except OSError as error:
        message = gettext_noop("The credential plugin %(command)s cannot be run: %(why)s.")
        raise SettingsError(message, command=command[0], why=str(error.strerror)) from None
    if process.returncode:
        message = gettext_noop(
            "The credential plugin %(command)s failed with exit code %(code)s. Run kubectl with this "
            "context to see why."
        )
        raise SettingsError(message, command=command[0], code=str(process.returncode))
    return _grant(output, str(spec["apiVersion"]), command[0])


def _printed(process: "subprocess.Popen[bytes]", command: str) -> bytes:
    """Return what a program prints until it ends. Raises SettingsError.

    A program that takes too long or prints too much is killed, with its child processes.
    """

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    assert process.stdout is not None
    late = Timer(LIMIT_S, kill)
    late.start()
    try:
        output: bytes = process.stdout.read(_MOST_BYTES + 1)
        if len(output) > _MOST_BYTES:
            kill()
            message = gettext_noop("The credential plugin %(command)s printed too much output.")
            raise SettingsError(message, command=command)
        process.wait()
    finally:
        ended_in_time = late.is_alive()
        late.cancel()
    if not ended_in_time:
        message = gettext_noop("The credential plugin %(command)s did not finish within %(seconds)s seconds.")
        raise SettingsError(message, command=command, seconds=f"{LIMIT_S:g}")
    return output


def _spec(entry: ContextEntry) -> dict[str, Any]:
    spec = entry.user["exec"]
    command = spec.get("command") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not command or spec.get("apiVersion") not in _VERSIONS:
        message = gettext_noop("The credential plugin of context %(name)s needs a command and the apiVersion %(v)s.")
        raise SettingsError(message, name=entry.context, v=" / ".join(_VERSIONS))
    if spec.get("interactiveMode") == "Always":
        message = gettext_noop(
            "Context %(name)s uses the credential plugin %(command)s, which needs an interactive terminal."
        )
        raise SettingsError(message, name=entry.context, command=str(command))
    return spec


def _command(entry: ContextEntry, spec: dict[str, Any]) -> list[str]:
    command = str(spec["command"])
    # Resolved as by kubectl: a path with a slash is relative to the kubeconfig, a bare name is looked up.
    executable = shutil.which(str(entry.user_folder / command) if "/" in command else command)
    if executable is None:
        raise SettingsError(
            gettext_noop("Context %(name)s uses the credential plugin %(command)s, which is not installed here."),
            name=entry.context,
            command=command,
        )
    return [str(Path(executable).absolute()), *map(str, spec.get("args") or ())]


def _environment(entry: ContextEntry, spec: dict[str, Any]) -> dict[str, str]:
    spec_of_credential: dict[str, Any] = {"interactive": False}
    if spec.get("provideClusterInfo"):
        settings = [
            extension.get("extension")
            for extension in entry.cluster.get("extensions") or ()
            if extension.get("name") == _ITS_SETTINGS
        ]
        spec_of_credential["cluster"] = {**entry.cluster, **({"config": settings[0]} if settings else {})}
    info = {"apiVersion": spec["apiVersion"], "kind": "ExecCredential", "spec": spec_of_credential}
    configured = {str(variable["name"]): str(variable["value"]) for variable in spec.get("env") or ()}
    inherited = {
        name: value for name, value in os.environ.items() if name in _HANDED_ON or name.startswith(_HANDED_ON_BY_PREFIX)
    }
    return {**inherited, **configured, "KUBERNETES_EXEC_INFO": json.dumps(info, default=str)}


def _grant(output: bytes, version: str, command: str) -> Grant:
    try:
        answer = msgspec.json.decode(output, type=_Answer)
    except UNDECODABLE:
        answer = None
    status = answer.status if answer else _Status()
    whole = bool(status.client_certificate_data) == bool(status.client_key_data)
    something = status.token or status.client_certificate_data
    if answer is None or answer.kind != "ExecCredential" or answer.api_version != version or not whole or not something:
        message = gettext_noop(
            "The credential plugin %(command)s returned no ExecCredential of version %(version)s with a "
            "token or certificate."
        )
        raise SettingsError(message, command=command, version=version)
    ends = status.expiration_timestamp
    return Grant(
        token=status.token,
        certificate=status.client_certificate_data,
        key=status.client_key_data,
        expires_at=ends.replace(tzinfo=ends.tzinfo or UTC) if ends else None,
    )
