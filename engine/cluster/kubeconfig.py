"""Kubeconfig files on this machine, as far as one must look into them before they are used: no secret is returned."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from engine.cluster.errors import SettingsError
from engine.formats.notes import gettext_noop

_LONGEST = 1_000_000


@dataclass(frozen=True)
class Contexts:
    """The names of the contexts of a kubeconfig, and which one kubectl would use."""

    names: tuple[str, ...]
    current: str = ""


def default_path() -> str:
    """Where kubectl looks: $KUBECONFIG, which may name several files, else ``~/.kube/config``."""
    return os.environ.get("KUBECONFIG", "") or at_home("~/.kube/config")


def at_home(path: str) -> str:
    """A path with its ``~`` resolved; that of a user who is unknown stays as it is, and is no file."""
    return os.path.expanduser(path)  # noqa: PTH111 - pathlib raises for unknown users


def contexts(path: str) -> Contexts:
    """What a kubeconfig offers. Raises SettingsError with a sentence that quotes nothing but names."""
    found = _merged(path)
    current = next((str(one["current-context"]) for one in found if one.get("current-context")), "")
    return Contexts(tuple(dict.fromkeys(_named(found, "contexts"))), current)


def chosen(path: str, context: str) -> str:
    """The context to use: the one asked for, or the current one, after a look at what it needs on this machine.

    Raises SettingsError when it is not there, is incomplete, or signs in by a program that is not installed.
    """
    found, offered = _merged(path), contexts(path)
    name = context or offered.current
    listed = ", ".join(offered.names) or "none"
    if not name:
        message = gettext_noop("%(path)s has no current context: name one of its contexts (%(listed)s).")
        raise SettingsError(message, path=path, listed=listed)
    if name not in offered.names:
        message = gettext_noop("%(path)s has no context %(name)s; its contexts: %(listed)s.")
        raise SettingsError(message, path=path, name=name, listed=listed)
    inner = _named(found, "contexts")[name].get("context")
    inner = inner if isinstance(inner, Mapping) else {}
    for part, key in (("clusters", "cluster"), ("users", "user")):
        if inner.get(key) not in _named(found, part):
            message = gettext_noop("The context %(name)s of %(path)s names a %(kind)s that is not there.")
            raise SettingsError(message, name=name, path=path, kind=key)
    _check_program(name, _named(found, "users")[str(inner["user"])].get("user"))
    return name


def _check_program(context: str, user: Any) -> None:
    program = user.get("exec") if isinstance(user, Mapping) else None
    command = str(program.get("command") or "") if isinstance(program, Mapping) else ""
    if command and shutil.which(command) is None:
        raise SettingsError(
            gettext_noop("The context %(name)s signs in by the program %(command)s, which is not installed here."),
            name=context,
            command=command,
        )


def _merged(path: str) -> list[Mapping[str, Any]]:
    """The documents of one or several files, the first of which counts for more, as kubectl merges them."""
    given = [part for part in path.split(os.pathsep) if part]
    there = [part for part in given if len(given) == 1 or Path(part).exists()]
    if not there:
        if not path:
            raise SettingsError(gettext_noop("A kubeconfig is needed."))
        raise SettingsError(gettext_noop("There is no kubeconfig %(path)s."), path=path)
    return [_document(Path(at_home(part))) for part in there]


def _document(path: Path) -> Mapping[str, Any]:
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(gettext_noop("%(path)s is not a file."), path=str(path))
        with path.open(encoding="utf-8") as file:
            text = file.read(_LONGEST)
        document = YAML(typ="safe", pure=True).load(text)
    except FileNotFoundError:
        raise SettingsError(gettext_noop("There is no kubeconfig %(path)s."), path=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        why = str(error.strerror) if isinstance(error, OSError) else "not UTF-8"
        message = gettext_noop("The kubeconfig %(path)s can't be read: %(why)s.")
        raise SettingsError(message, path=str(path), why=why) from None
    except (YAMLError, ValueError, RecursionError):
        # Parsers quote the line that they stumble over, which may be the token.
        raise SettingsError(gettext_noop("The kubeconfig %(path)s is not YAML."), path=str(path)) from None
    if not isinstance(document, Mapping):
        raise SettingsError(gettext_noop("%(path)s is not a kubeconfig."), path=str(path))
    return document


def _named(documents: list[Mapping[str, Any]], part: str) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for document in documents:
        entries = document.get(part)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping) and entry.get("name"):
                found.setdefault(str(entry["name"]), entry)
    return found
