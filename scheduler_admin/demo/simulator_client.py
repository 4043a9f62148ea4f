"""The demo's buttons: they ask the simulator, over HTTP, for what a real cluster does by itself."""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from django.conf import settings
from django.utils.translation import gettext as _

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster

SPEEDS = ("0.5", "1", "2", "4")
TIMEOUT_S = 3
_LARGEST = 1_000_000
"""Bytes of an answer that are read."""


class SimulatorError(Exception):
    """The simulator did not do what it was asked. ``str()`` is a sentence for the page."""


def offered(user: Who, cluster: Cluster) -> bool:
    """Whether the page of this cluster shows the demo's buttons to this user."""
    simulated = bool(settings.SIMULATOR_URL) and cluster.name == settings.SIMULATOR_CLUSTER
    return simulated and scope_of(user, "operate").everything


def surge() -> str:
    """Lets more work arrive than there is room for. Returns what the simulator says of it."""
    return str(_post("surge").get("message") or _("More pods are now arriving than the cluster has room for."))


def set_speed(speed: float) -> None:
    """How fast the simulated cluster lives."""
    _post("speed", {"speed": speed})


def reset() -> None:
    """Lets the simulated cluster begin again."""
    _post("reset")


def _post(what: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    request = Request(  # noqa: S310 - the address is the installation's own setting
        f"{settings.SIMULATOR_URL}/simulator/{what}",
        data=json.dumps(body or {}).encode(),
        headers={"Authorization": f"Bearer {settings.SIMULATOR_TOKEN}", "Content-Type": "application/json"},
        method="POST",
    )
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            answer = json.loads(response.read(_LARGEST) or b"{}")
    except HTTPError as error:
        raise SimulatorError(_refusal(error)) from error
    except (OSError, HTTPException) as error:
        raise SimulatorError(_("The simulator does not respond. Check that it is running.")) from error
    except ValueError as error:
        raise SimulatorError(_("The simulator’s response could not be read.")) from error
    return answer if isinstance(answer, dict) else {}


def _refusal(error: HTTPError) -> str:
    """Why, in the simulator's own words where it has any."""
    try:
        return str(json.loads(error.read(_LARGEST))["message"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return _("The simulator rejected the request with status %(status)s.") % {"status": error.code}
