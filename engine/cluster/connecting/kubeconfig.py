"""Reads kubeconfigs: files on this machine, merged as kubectl does, or a self-contained text.

Nothing here returns or quotes a secret except ``ContextEntry``.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ruamel.yaml import YAML

from engine.cluster.errors import SettingsError
from engine.formats.yaml import libyaml
from engine.formats.yaml.merge_keys import MOST_MERGED, UNREADABLE, count_merges
from engine.model.message import gettext_noop

LONGEST = 1_000_000
"""How many characters of a kubeconfig are read."""
_DEEPEST = 100
_FROM_ELSEWHERE = ("exec", "auth-provider", "tokenFile", "client-certificate", "client-key", "certificate-authority")

Section = Mapping[str, Any]


@dataclass(frozen=True)
class Contexts:
    """The names of the contexts of a kubeconfig, and the current context of kubectl."""

    names: tuple[str, ...]
    current: str = ""


@dataclass(frozen=True)
class ContextEntry:
    """The cluster and the user of a context. Paths in them are relative to the folder of their file."""

    context: str
    cluster: Section = field(repr=False)
    cluster_folder: Path
    user: Section = field(repr=False)
    user_folder: Path

    @property
    def program(self) -> str:
        """Return the credential plugin's command as it is written; empty where there is none."""
        spec = self.user.get("exec")
        return str(spec.get("command") or "") if isinstance(spec, Mapping) else ""


def default_path() -> str:
    """Return where kubectl looks: $KUBECONFIG, which may list several files, else ``~/.kube/config``."""
    return os.environ.get("KUBECONFIG", "") or at_home("~/.kube/config")


def at_home(path: str) -> str:
    """Return a path with its ``~`` resolved; the path of an unknown user is unchanged, and is no file."""
    return os.path.expanduser(path)  # noqa: PTH111 - pathlib raises for unknown users


@dataclass(frozen=True)
class Kubeconfig:
    """One or several kubeconfig documents, where the first one takes precedence, as kubectl merges them."""

    origin: str
    """How messages refer to the kubeconfig."""
    documents: tuple[tuple[Path, Section], ...] = field(repr=False)
    """The folder of each document, and its content."""

    @classmethod
    def at(cls, path: str) -> Self:
        """Read a file, or the files of a list as in $KUBECONFIG. Raises SettingsError."""
        parts = [part for part in path.split(os.pathsep) if part]
        existing = [part for part in parts if len(parts) == 1 or Path(part).exists()]
        if not existing:
            if not path:
                raise SettingsError(gettext_noop("Provide a kubeconfig."))
            raise SettingsError(gettext_noop("The kubeconfig %(path)s does not exist."), path=path)
        files = [Path(at_home(part)) for part in existing]
        return cls(path, tuple((file.parent, _parsed(_text(file), str(file))) for file in files))

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a text from a form or the database, which may refer to neither commands nor files.

        Whoever may edit a cluster must not run commands on this machine, nor read its files. Raises SettingsError.
        """
        kubeconfig = cls("kubeconfig", ((Path(), _parsed(text[:LONGEST], "kubeconfig")),))
        for part, inner in (("users", "user"), ("clusters", "cluster")):
            for entry in kubeconfig._named(part).values():
                named = [key for key in _FROM_ELSEWHERE if key in _section(entry[1], inner)]
                if named:
                    raise SettingsError(
                        gettext_noop(
                            "The kubeconfig contains %(name)s. Only files on the server may refer to "
                            "commands or other files. Embed the data with kubectl config view --flatten "
                            "--raw."
                        ),
                        name=named[0],
                    )
        return kubeconfig

    def contexts(self) -> Contexts:
        """Return the names of the contexts, and the current one."""
        named = (document.get("current-context") for _folder, document in self.documents)
        return Contexts(tuple(self._named("contexts")), next((str(name) for name in named if name), ""))

    def entry(self, context: str = "") -> ContextEntry:
        """Return the entry of a context, or of the current one.

        Raises SettingsError when it is missing or incomplete.
        """
        offered = self.contexts()
        name = context or offered.current
        listed = ", ".join(offered.names) or "none"
        if not name:
            message = gettext_noop("%(path)s has no current context. Specify one of its contexts: %(listed)s.")
            raise SettingsError(message, path=self.origin, listed=listed)
        if name not in offered.names:
            message = gettext_noop("%(path)s has no context %(name)s. Its contexts are: %(listed)s.")
            raise SettingsError(message, path=self.origin, name=name, listed=listed)
        inner = _section(self._named("contexts")[name][1], "context")
        sections: dict[str, Any] = {}
        for part, key in (("clusters", "cluster"), ("users", "user")):
            entries = self._named(part)
            named = str(inner.get(key) or "")
            if named not in entries:
                message = gettext_noop("Context %(name)s in %(path)s refers to a %(kind)s that does not exist.")
                raise SettingsError(message, name=name, path=self.origin, kind=key)
            folder, entry = entries[named]
            sections[key], sections[f"{key}_folder"] = _section(entry, key), folder
        return ContextEntry(context=name, **sections)

    def _named(self, part: str) -> dict[str, tuple[Path, Section]]:
        entries_by_name: dict[str, tuple[Path, Section]] = {}
        for folder, document in self.documents:
            entries = document.get(part)
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, Mapping) and entry.get("name"):
                    entries_by_name.setdefault(str(entry["name"]), (folder, entry))
        return entries_by_name


def _section(entry: Section, name: str) -> Section:
    inner = entry.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(gettext_noop("%(path)s is not a file."), path=str(path))
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST)
    except FileNotFoundError:
        raise SettingsError(gettext_noop("The kubeconfig %(path)s does not exist."), path=str(path)) from None
    except (OSError, ValueError) as error:  # the latter where it is not UTF-8, or is no path
        why = str(error.strerror) if isinstance(error, OSError) else "not UTF-8"
        message = gettext_noop("The kubeconfig %(path)s cannot be read: %(why)s.")
        raise SettingsError(message, path=str(path), why=why) from None


def _parsed(text: str, origin: str) -> Section:
    try:
        documents = libyaml.load(text, _DEEPEST, most=LONGEST)
    except libyaml.NotPlainError:
        documents = [_odd(text, origin)]
    if len(documents) != 1 or not isinstance(documents[0], Mapping):
        raise SettingsError(gettext_noop("%(path)s is not a kubeconfig."), path=origin)
    return documents[0]


def _odd(text: str, origin: str) -> Any:
    """Parse a text that libyaml rejects, without quoting it.

    Parsers quote the line that they fail at, which may be the token.
    """
    if len(text) > libyaml.LONGEST_ODD:
        message = gettext_noop(
            "%(path)s uses YAML features that are supported only up to %(most)s KiB. Simplify or shorten it."
        )
        raise SettingsError(message, path=origin, most=str(libyaml.LONGEST_ODD // 1024))
    try:
        return YAML(typ="safe", pure=True).load(text) if count_merges(text) <= MOST_MERGED else None
    except UNREADABLE:
        raise SettingsError(gettext_noop("%(path)s is not valid YAML."), path=origin) from None
