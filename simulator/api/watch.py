"""Serves watches: a stream of JSON lines with the changes of the store since a version."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from simulator.api import calls
from simulator.api.lists import list_objects
from simulator.api.printing.views import present
from simulator.selectors import matcher
from simulator.status import ApiError, invalid_options, version_expired
from simulator.storage import definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.calls import Call
    from simulator.api.printing.views import AnswerForm
    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.storage.store import Event, Store

BOOKMARK_SECONDS = 60.0
SHORTEST_DEFAULT_TIMEOUT = 1800
# A client that falls this far behind is disconnected; it resumes from the last version that it saw.
LONGEST_BACKLOG = 20_000
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


class OpenWatches:
    """The open watches of a server, so that shutting down can end them."""

    def __init__(self) -> None:
        self._open: set[WatchStream] = set()
        self._closing = False

    async def serve(self, store: Store, call: Call, view: AnswerForm, request: web.Request) -> web.StreamResponse:
        """Answer a watch and keep it open until it times out, the client disconnects or the server shuts down."""
        watch = WatchStream(store, call, view)
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
        )
        try:
            watch.start()
            self._open.add(watch)
            await response.prepare(request)
            if not self._closing:
                await watch.run(request, response)
            await response.write_eof()
        except ConnectionError:
            pass  # The client has disconnected, which is how most watches end.
        finally:
            watch.stop()
            self._open.discard(watch)
        return response

    async def close(self) -> None:
        """End every watch; later ones end at once."""
        self._closing = True
        for watch in tuple(self._open):
            watch.end()


class WatchStream:
    """A client's view of the changes of one kind."""

    def __init__(self, store: Store, call: Call, view: AnswerForm) -> None:
        self._store = store
        self._call = call
        self._kind: ApiResource = call.kind
        self._view = view
        self._selects = matcher(call.kind, call.query.get("labelSelector"), call.query.get("fieldSelector"))
        self._bookmarks = calls.flag(call.query, "allowWatchBookmarks")
        self._lines: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._ended = False
        self._headed = False
        self._last_version = store.resource_version
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Queue the events since the requested version, and subscribe to the store. Raises ApiError."""
        version = self._call.number("resourceVersion")
        initial = calls.flag(self._call.query, "sendInitialEvents")
        _check_match("sendInitialEvents" in self._call.query, self._call.query.get("resourceVersionMatch"))
        if initial or not version:
            self._queue_state(initial)
        else:
            try:
                self._queue_history(version)
            except ApiError as error:
                self._line("ERROR", error.status)
                self._ended = True
        if self._bookmarks and not self._ended and not initial:
            self._bookmark()
        self._unsubscribe = self._store.subscribe(self._on_event)

    def _queue_state(self, initial: bool) -> None:
        query = {name: text for name, text in self._call.query.items() if name.endswith("Selector")}
        for obj in list_objects(self._store, replace(self._call, query=query))[0]:
            self._line("ADDED", self._shown(obj))
        if initial:
            self._bookmark(INITIAL_EVENTS_END)

    def _queue_history(self, version: int) -> None:
        if version > self._store.resource_version:
            # The version is from an earlier run of this server: the client needs a new list.
            raise version_expired(version, self._store.resource_version)
        for event in self._store.events_since(version):
            self._on_event(event)

    def stop(self) -> None:
        """Stop following the store."""
        if self._unsubscribe is not None:
            self._unsubscribe()

    def end(self) -> None:
        """End the watch after the queued events."""
        self._ended = True
        self._wake.set()

    async def run(self, request: web.Request, response: web.StreamResponse) -> None:
        """Send events as they come, and bookmarks from time to time, until the timeout."""
        loop = asyncio.get_running_loop()
        timeout = self._call.number("timeoutSeconds")
        deadline = loop.time() + (timeout or SHORTEST_DEFAULT_TIMEOUT * (1 + random.random()))
        while True:
            await self._send(response)
            if self._ended or request.transport is None or request.transport.is_closing():
                return
            remaining = deadline - loop.time()
            try:
                await asyncio.wait_for(self._wake.wait(), max(0.0, min(remaining, BOOKMARK_SECONDS)))
            except TimeoutError:
                if self._bookmarks:
                    self._bookmark()
                self._ended = loop.time() >= deadline

    async def _send(self, response: web.StreamResponse) -> None:
        self._wake.clear()
        while self._lines:
            block = b"".join(self._lines)
            self._lines.clear()
            await response.write(block)

    def _on_event(self, event: Event) -> None:
        self._last_version = event.resource_version
        namespace = self._call.namespace
        if event.key != self._kind.storage:
            if event.key == definitions.KEY and event.type == "DELETED":
                self._end_without(event.object["metadata"]["name"])
            return
        if namespace is not None and event.object["metadata"].get("namespace") != namespace:
            return
        line = self._translated(event)
        if line is None:
            return
        self._line(*line)
        if len(self._lines) > LONGEST_BACKLOG:
            self.end()

    def _end_without(self, definition: str) -> None:
        """End the watch of a custom kind whose definition was deleted."""
        if self._kind.key == definition:
            self.end()

    def _translated(self, event: Event) -> tuple[str, Object] | None:
        """Return an event as the selectors show it: an object that stops matching is deleted for this client."""
        new = present(self._kind, event.object)
        if self._selects is None:
            return event.type, self._shown(new)
        before = event.old is not None and self._selects(present(self._kind, event.old))
        after = event.type != "DELETED" and self._selects(new)
        if after:
            return ("MODIFIED" if before else "ADDED"), self._shown(new)
        if not before or event.old is None:
            return None
        last = present(self._kind, event.old)
        meta = {**last["metadata"], "resourceVersion": str(event.resource_version)}
        return "DELETED", self._shown({**last, "metadata": meta})

    def _shown(self, obj: Object) -> Object:
        shown = self._view.present_object(self._kind, obj, self._store.now())
        if self._view.form == "Table" and self._headed:
            # Columns are named once per stream.
            shown = {**shown, "columnDefinitions": None}
        self._headed = True
        return shown

    def _bookmark(self, annotations: Object | None = None) -> None:
        meta: Object = {"resourceVersion": str(self._last_version), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        if self._view.form == "Table":
            obj: Object = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "rows": []}
            obj["columnDefinitions"] = None
        else:
            obj = {"kind": self._kind.kind, "apiVersion": self._kind.api_version, "metadata": meta}
        self._line("BOOKMARK", obj)

    def _line(self, type_: str, obj: Any) -> None:
        self._lines.append(msgspec.json.encode({"type": type_, "object": obj}) + b"\n")
        self._wake.set()


def _check_match(sends_initial: bool, match: str | None) -> None:
    if sends_initial and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise invalid_options("resourceVersionMatch", why)
    if match and not sends_initial:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise invalid_options("resourceVersionMatch", why)
