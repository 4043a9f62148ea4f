"""Controls the simulation from outside, beside the Kubernetes API: state, speed, reset, surge."""

import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from aiohttp import web

from engine.formats.yaml.manifests import ManifestError
from simulator.doors import RejectionReason, rejection_reason
from simulator.script.surge import NotNowError
from simulator.status import NO_BROWSER

if TYPE_CHECKING:
    from simulator.clock import Pace

PREFIX = "/simulator/"
SLOWEST, FASTEST = 0.1, 20.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _RefusedError(Exception):
    """Raised for a request that can't be served, with its HTTP code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Simulation(Protocol):
    """A simulation that can be controlled."""

    pace: "Pace"

    def state(self) -> dict[str, Any]:
        """Return its state as JSON."""

    def reset(self) -> None:
        """Reset it to its initial state."""

    def surge(self) -> dict[str, Any]:
        """Force a preemption. Raises NotNowError."""


class Control:
    """Answers everything under /simulator/, with the same token as the API."""

    def __init__(self, simulation: Simulation, token: str | None) -> None:
        """Create the control paths of `simulation`."""
        self._simulation = simulation
        self._token = token

    def attach(self, app: web.Application) -> None:
        """Let an application answer these paths before its own routes."""

        @web.middleware
        async def steer(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._answer(request) if request.path.startswith(PREFIX) else await handler(request)

        app.middlewares.append(steer)

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            self._authenticate(request)
            return _json(200, await self._route(request))
        except (_RefusedError, NotNowError, ManifestError) as error:
            return _json(error.code if isinstance(error, _RefusedError) else 409, {"message": str(error)})

    def _authenticate(self, request: web.Request) -> None:
        why = rejection_reason(request, self._token)
        if why is RejectionReason.NO_TOKEN:
            raise _RefusedError(401, "Send the token that the simulator was started with.")
        if why is RejectionReason.BROWSER:
            raise _RefusedError(403, NO_BROWSER)

    async def _route(self, request: web.Request) -> object:
        match request.method, request.path.removeprefix(PREFIX).rstrip("/"):
            case "GET", "state":
                return self._simulation.state()
            case "POST", "speed":
                self._simulation.pace.set_speed(_speed(await request.read()))
                return self._simulation.state()
            case "POST", "reset":
                self._simulation.reset()
                return self._simulation.state()
            case "POST", "surge":
                return self._simulation.surge()
            case _, "state" | "speed" | "reset" | "surge":
                raise _RefusedError(405, f"{request.path} does not support {request.method}.")
        raise _RefusedError(404, f"{request.path} does not exist. Use state, speed, reset or surge.")


def _speed(body: bytes) -> float:
    try:
        speed = msgspec.json.decode(body, type=dict[str, float])["speed"]
    except (msgspec.MsgspecError, KeyError) as error:
        raise _RefusedError(400, 'Expected a body such as {"speed": 2.0}.') from error
    if not math.isfinite(speed) or not SLOWEST <= speed <= FASTEST:
        raise _RefusedError(400, f"The speed must be from {SLOWEST} to {FASTEST:g}.")
    return speed


def _json(code: int, content: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), status=code, content_type="application/json")
