"""Kubeconfigs that an installation of the tests offers, and one that runs a program."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.connecting import offered


def offer(place: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Offer what lies in a folder of the test's own, although it is below /tmp."""
    monkeypatch.setattr(offered, "NEVER", tuple(path for path in offered.NEVER if not place.is_relative_to(path)))
    settings.KUBECONFIG_PLACES = str(place)


def running(command: str, *arguments: str, server: str = "https://127.0.0.1:9") -> str:
    """A kubeconfig that signs in by a program."""
    program = {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": [*arguments]}
    return of({"exec": program}, server=server)


def of(user: dict[str, Any], server: str = "https://127.0.0.1:9", **cluster: Any) -> str:
    """A kubeconfig of one context, ``c``."""
    return json.dumps(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
            "users": [{"name": "u", "user": user}],
        }
    )
