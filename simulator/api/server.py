"""The HTTP server: an aiohttp application that answers as a Kubernetes API server does."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from simulator import status
from simulator.api import calls, discovery, openapi
from simulator.api.printing.views import AnswerForm, negotiate
from simulator.api.resources import carry_out
from simulator.api.watch import OpenWatches
from simulator.doors import RejectionReason, rejection_reason
from simulator.kubeconfig import kubeconfig

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulator.api.calls import Call
    from simulator.objects import Object
    from simulator.storage.store import Store

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

__all__ = ["AuditRecord", "create_app", "kubeconfig"]

log = logging.getLogger(__name__)

LARGEST_BODY = 3 * 1024 * 1024
HEALTH = ("/healthz", "/livez", "/readyz")
OPEN_TO_ALL = (*HEALTH, "/version")
CALL: web.RequestKey[Any] = web.RequestKey("call", object)


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A single request (`resource` as the store's key, "" for a path without a resource) and the code of its answer."""

    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    user_agent: str
    dry_run: bool
    uid: str = ""
    """The UID that the request requires of the object, by a precondition; empty: any."""


def create_app(
    store: Store, *, token: str | None = None, audit: Callable[[AuditRecord], object] | None = None
) -> web.Application:
    """Return an application that serves a store.

    With a token, every request except those for health and version must carry it. `audit` is called once for every
    request, as soon as its answer begins.
    """
    watches = OpenWatches()
    server = Server(store, token, watches)
    app = web.Application(client_max_size=LARGEST_BODY)
    app.router.add_route("*", "/{path:.*}", server.handle)

    async def close(_: web.Application) -> None:
        await watches.close()

    async def record(request: web.Request, response: web.StreamResponse) -> None:
        if audit is not None:
            audit(_record(request, response.status))

    app.on_shutdown.append(close)
    app.on_response_prepare.append(record)
    return app


def _record(request: web.Request, code: int) -> AuditRecord:
    call: Call | None = request.get(CALL)
    agent = request.headers.get("User-Agent", "")
    if call is None:
        return AuditRecord(request.method.lower(), "", "", "", request.path, code, agent, dry_run=False)
    try:
        dry_run = call.dry_run
    except status.ApiError:
        dry_run = False
    return AuditRecord(
        call.verb,
        call.kind.key,
        call.subresource or "",
        call.namespace or "",
        call.name or _made(call),
        code,
        agent,
        dry_run,
        _uid_precondition(call),
    )


def _made(call: Call) -> str:
    """Return the name of an object that a request creates, where the request has one."""
    meta = call.body.get("metadata") if isinstance(call.body, dict) else None
    name = meta.get("name") if isinstance(meta, dict) and call.verb == "create" else None
    return name if isinstance(name, str) else ""


def _uid_precondition(call: Call) -> str:
    """Return the UID in the preconditions of DeleteOptions, also those of an eviction."""
    body = call.body if isinstance(call.body, dict) else {}
    options = body.get("deleteOptions", body)
    preconditions = options.get("preconditions") if isinstance(options, dict) else None
    uid = preconditions.get("uid") if isinstance(preconditions, dict) else None
    return uid if isinstance(uid, str) else ""


class Server:
    """Turns requests into calls on the store and answers into responses."""

    def __init__(self, store: Store, token: str | None, watches: OpenWatches) -> None:
        self._store = store
        self._token = token
        self._watches = watches

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request; errors become a Status."""
        try:
            self._authenticate(request)
            return await self._route(request)
        except status.NoPageError as error:
            return web.Response(status=error.code, text=f"{error.message}\n")
        except status.ApiError as error:
            return _refusal(error)
        except web.HTTPRequestEntityTooLarge:
            return _refusal(status.request_too_large(LARGEST_BODY))
        except Exception as error:  # whatever failed, the client must get a Status
            log.exception("Request %s %s failed", request.method, request.path)
            return _refusal(status.internal_error(repr(error)))

    def _authenticate(self, request: web.Request) -> None:
        why = None if request.path.rstrip("/") in OPEN_TO_ALL else rejection_reason(request, self._token)
        if why is not None:
            raise status.unauthorized() if why is RejectionReason.NO_TOKEN else status.no_browser()

    async def _route(self, request: web.Request) -> web.StreamResponse:
        parts = [part for part in request.path.split("/") if part]
        if request.path.rstrip("/") in HEALTH:
            return web.Response(text="ok")
        if request.method == "GET" and request.path.rstrip("/") == "/openapi/v2":
            return _openapi_version_2(request)
        document = self._document(parts) if request.method == "GET" else None
        if document is not None:
            return _json(200, document)
        if not parts or parts[0] not in ("api", "apis"):
            raise status.NoPageError
        return await self._resource(request, parts)

    def _document(self, parts: list[str]) -> Object | None:
        """Return the document that describes the API at a path, None if there is none."""
        kinds = self._store.kinds
        match parts:
            case ["version"]:
                return discovery.VERSION
            case ["api"]:
                return discovery.CORE_VERSIONS
            case ["apis"]:
                return discovery.group_list(kinds)
            case ["apis", group]:
                return discovery.group(kinds, group)
            case ["api", version]:
                return discovery.resource_list(kinds, "", version)
            case ["apis", group, version]:
                return discovery.resource_list(kinds, group, version)
            case ["openapi", "v3"]:
                return openapi.index(kinds)
            case ["openapi", "v3", *root]:
                return openapi.version_3(kinds, "/".join(root))
        return None

    async def _resource(self, request: web.Request, parts: list[str]) -> web.StreamResponse:
        call = calls.resolve(self._store.kinds, request.method, parts, request.query)
        request[CALL] = call
        view = negotiate(request.headers.get("Accept", ""), request.query.get("includeObject", ""))
        if call.verb == "watch":
            return await self._watches.serve(self._store, call, view, request)
        if call.writes:
            media_type = request.headers.get("Content-Type", "").partition(";")[0].strip()
            body = calls.decode(await request.read(), media_type, call.verb)
            agent = request.headers.get("User-Agent", "")
            call = replace(call, media_type=media_type, body=body, user_agent=agent)
            request[CALL] = call
        code, answer = carry_out(self._store, call)
        if isinstance(answer, str):
            return web.Response(status=code, text=answer)
        return _json(code, self._shown(call, view, answer))

    def _shown(self, call: Call, view: AnswerForm, answer: Object) -> Object:
        if not view.form or answer["kind"] in ("Status", "Scale"):
            return answer
        if "items" in answer and answer["kind"] == f"{call.kind.kind}List":
            return view.present_list(call.kind, answer["items"], answer["metadata"], self._store.now())
        return view.present_object(call.kind, answer, self._store.now())


def _json(code: int, obj: Object, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=code, body=msgspec.json.encode(obj), content_type="application/json", headers=headers)


def _refusal(error: status.ApiError) -> web.Response:
    wait = error.status["details"].get("retryAfterSeconds")
    return _json(error.code, error.status, {"Retry-After": str(wait)} if wait else None)


def _openapi_version_2(request: web.Request) -> web.Response:
    if "protobuf" in request.headers.get("Accept", ""):
        return web.Response(body=openapi.EMPTY_V2_PROTOBUF, content_type=openapi.V2_PROTOBUF)
    return _json(200, openapi.version_2())
