"""The ways to reach a cluster, as people give them and as they are kept."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from django.conf import settings
from django.utils.translation import gettext_noop
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.credentials import ConnectionSettings, as_kubeconfig, single_context
from engine.cluster.connecting.kubeconfig import Kubeconfig, at_home
from engine.cluster.connecting.offered import OfferedFiles
from engine.cluster.errors import SettingsError
from scheduler_admin.clusters.connections.sealing import unseal
from scheduler_admin.clusters.models import Cluster


def places() -> OfferedFiles:
    """Where kubeconfigs lie that pages and the REST API offer."""
    return OfferedFiles.of(settings.KUBECONFIG_PLACES)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A kubeconfig on this machine, or one as a text, or with neither the service account of our own pod."""

    path: str = ""
    text: str = field(default="", repr=False)
    context: str = ""
    remote: bool = False
    """Whether the file was chosen over a page or the REST API: then what it names is checked as well."""

    @classmethod
    def by_choice(cls, path: str, context: str = "") -> Self:
        """A file of those that the installation offers. Raises SettingsError, and reads nothing, for any other."""
        places().check(path.strip())
        return cls(path=path.strip(), context=context.strip(), remote=True)

    @classmethod
    def by_file(cls, path: str, context: str = "") -> Self:
        """A file, or several as in $KUBECONFIG: what the command line names, and nobody who is not at this machine.

        The worker that watches the cluster may have started elsewhere.
        """
        parts = [str(Path(at_home(part)).absolute()) for part in path.strip().split(":") if part]
        return cls(path=":".join(parts), context=context.strip())

    @classmethod
    @sensitive_variables()
    def by_text(cls, text: str, context: str = "") -> Self:
        """A kubeconfig as a text. Raises SettingsError where nothing came: that must not stand for our own pod's."""
        if not text.strip():
            raise SettingsError(gettext_noop("The kubeconfig is empty."))
        return cls(text=text, context=context)

    @classmethod
    @sensitive_variables()
    def by_token(cls, address: str, token: str, ca: str = "") -> Self:
        """An address, a token, and the PEM certificates that the server's is checked against. Raises SettingsError."""
        document = as_kubeconfig(address.strip(), token.strip(), ca.strip())
        return cls(text=json.dumps(document), context=document["current-context"])

    @classmethod
    def to(cls, cluster: Cluster) -> Self:
        """How a cluster is reached: by what is stored for it, if anything is. Raises SettingsError."""
        stored = getattr(cluster, "credentials", None)
        if stored is not None:
            return cls(text=unseal(stored.sealed), context=stored.context)
        return cls(path=cluster.kubeconfig, context=cluster.context)

    @property
    def program(self) -> str:
        """The program that is run to sign in, if one is: a text may name none. Raises SettingsError."""
        return self.kubeconfig().entry(self.context).program if self.path else ""

    @property
    def in_cluster(self) -> bool:
        """Whether it is the service account of our own pod."""
        return not self.path and not self.text

    def settings(self, timeout_s: float = 10.0) -> ConnectionSettings:
        """What opens a connection."""
        return ConnectionSettings(
            kubeconfig_path=self.path,
            kubeconfig_text=self.text,
            context=self.context,
            in_cluster=self.in_cluster,
            timeout_s=timeout_s,
        )

    def kubeconfig(self) -> Kubeconfig:
        """The document. Raises SettingsError when it is none."""
        return Kubeconfig.at(self.path) if self.path else Kubeconfig.of(self.text)

    def chosen(self) -> Self:
        """With the context that would be used, and of a text nothing else. Raises SettingsError."""
        if self.in_cluster:
            return self
        entry = self.kubeconfig().entry(self.context)
        if self.remote:
            places().check_named(entry)
        try:
            text = json.dumps(single_context(entry), default=str) if self.text else ""
        except (TypeError, ValueError, RecursionError):  # YAML can say what JSON can't
            raise SettingsError(gettext_noop("%(path)s is not a kubeconfig."), path="kubeconfig") from None
        return replace(self, context=entry.context, text=text)
