"""Records Events: equal ones are counted in one object, and their total number is bounded."""

from collections import OrderedDict
from typing import ClassVar

from simulator.clock import SimulationClock
from simulator.controllers.component import Component, Place
from simulator.objects import Object, timestamp
from simulator.status import ApiError
from simulator.storage.store import Event, Store

KEEP_EVENTS = 500
"""How many Events are kept, the latest ones: the demo runs for days, an API server drops them after an hour."""


class Recorder(Component):
    """Writes the Events of the cluster's components, and bounds the number of all Events, whoever writes them."""

    watches: ClassVar[tuple[str, ...]] = ("events",)

    def __init__(self, store: Store, clock: SimulationClock, keep: int = KEEP_EVENTS) -> None:
        """Create a recorder that keeps the last `keep` Events."""
        super().__init__(store, clock)
        self._keep = keep
        self._order: OrderedDict[Place, None] = OrderedDict()
        self._known: dict[tuple[str, ...], Place] = {}

    def on_event(self, event: Event) -> None:
        """Record which Event was touched last; remove the oldest ones when there are too many."""
        place = (event.object["metadata"]["namespace"], event.object["metadata"]["name"])
        if event.type == "DELETED":
            self._order.pop(place, None)
            return
        self._order[place] = None
        self._order.move_to_end(place)
        if len(self._order) > self._keep and "trim" not in self.timers:
            self.timers.set("trim", 0, self._trim)

    def _trim(self) -> None:
        while len(self._order) > self._keep:
            (namespace, name), _ = self._order.popitem(last=False)
            if self.store.find("events", namespace, name) is not None:
                self.store.remove("events", namespace, name)
        self._known = {key: place for key, place in self._known.items() if place in self._order}

    def record(self, source: str, obj: Object, reason: str, message: str, *, type_: str = "Normal",
               action: str = "", related: Object | None = None) -> None:  # fmt: skip
        """Write an Event of an object; repeating the same reason and message only increases the count.

        With an `action`, as kube-scheduler does, it is an Event of events.k8s.io, which may name a `related` object.
        """
        uid = obj["metadata"]["uid"]
        known = self._known.get((uid, source, reason, message))
        if known is not None and self.store.find("events", *known) is not None:
            self.store.mutate("events", *known, self._again)
            return
        try:
            created = self.store.create("events", self._event(source, obj, reason, message, type_, action, related))
        except ApiError:
            return  # the namespace is terminating: nobody will read the Event
        place = (created["metadata"]["namespace"], created["metadata"]["name"])
        self._known[uid, source, reason, message] = place

    def _again(self, event: Object) -> None:
        if event.get("eventTime"):
            count = (event.get("series") or {}).get("count", 1) + 1
            event["series"] = {"count": count, "lastObservedTime": self._precisely()}
        else:
            event["count"] = event.get("count", 1) + 1
            event["lastTimestamp"] = timestamp(self.clock.now())

    def _event(self, source: str, obj: Object, reason: str, message: str, type_: str, action: str,
               related: Object | None) -> Object:  # fmt: skip
        meta = obj["metadata"]
        common = {
            "metadata": {"generateName": f"{meta['name'][:50]}.", "namespace": meta.get("namespace", "default")},
            "involvedObject": _reference(obj),
            "reason": reason,
            "message": message,
            "type": type_,
            "reportingComponent": source,
        }
        if action:
            pointed = {"related": _reference(related)} if related else {}
            at = {"eventTime": self._precisely(), "firstTimestamp": None, "lastTimestamp": None}
            return {**common, **at, **pointed, "action": action, "source": {}, "reportingInstance": f"{source}-1"}
        now = timestamp(self.clock.now())
        once = {"count": 1, "firstTimestamp": now, "lastTimestamp": now}
        return {**common, **once, "source": {"component": source}, "reportingInstance": ""}

    def _precisely(self) -> str:
        return f"{self.clock.now():%Y-%m-%dT%H:%M:%S.%fZ}"


def _reference(obj: Object) -> Object:
    meta = obj["metadata"]
    fields = {"kind": obj["kind"], "namespace": meta.get("namespace"), "name": meta["name"], "uid": meta["uid"],
              "apiVersion": obj["apiVersion"], "resourceVersion": meta["resourceVersion"]}  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}
