"""What must hold whatever goes wrong: sentences of what does not, none where all is well."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from tests.soak.ground import CALM, GUARANTEED, NAME, Ground

Row = Mapping[str, Any]
PAGES = ("/clusters/", *(f"/clusters/{NAME}/{page}" for page in ("queues/", "queues/root.test/", "history/", "nodes/")))
_VICTIMS = (
    "SELECT v.name, v.uid, v.queue, v.evicted_at, d.ask_queue, d.id FROM history_victim v"
    " JOIN history_decision d ON d.id = v.decision_id WHERE d.source = 'engine'"
)
_OPEN = "SELECT id, state, ask_name, node FROM history_decision WHERE state IN ('planned', 'evicting', 'waiting')"


Pod = tuple[str, str]
"""Its name and its UID: in an hour two of some thousand pods may well be called the same."""


def accepted(audit: Iterable[Row]) -> Counter[Pod]:
    """The pods that the API server was told to evict and took, and how often."""
    asked = [one for one in audit if one["subresource"] == "eviction" and not one["dry_run"]]
    return Counter((one["name"], one["uid"]) for one in asked if one["code"] < 300)


def wrong_evictions(evicted: Counter[Pod], victims: Iterable[Row], refused: int) -> list[str]:
    """Pods that went twice or that no decision knows, and decisions against the tree; ``refused``: broke a law."""
    found = [f"{name} ({uid}) was told to go {times} times" for (name, uid), times in evicted.items() if times > 1]
    rows = list(victims)
    unknown = evicted.keys() - {(row["name"], row["uid"]) for row in rows}
    found += [f"no decision knows of {name} ({uid}), which was evicted" for name, uid in sorted(unknown)]
    for row in rows:
        path, asker = row["queue"].removeprefix("root."), row["ask_queue"].removeprefix("root.")
        if GUARANTEED[path]:
            found.append(
                f"{row['name']} of {path}, which never has more than its guarantee, is a victim of {row['id']}"
            )
        if not GUARANTEED[asker]:
            found.append(f"decision {row['id']} preempts for {asker}, to which nothing is guaranteed")
    return found + ([f"{refused} decisions broke a law"] if refused else [])


def wrongs(ground: Ground) -> list[str]:
    """What must not be at any time."""
    evicted = accepted(ground.cluster.audit())  # first: a victim is stored before it is evicted
    [refused] = ground.store.rows("SELECT coalesce(sum(refused), 0) AS refused FROM history_pass")
    return wrong_evictions(evicted, ground.store.rows(_VICTIMS), int(refused["refused"]))


def ailing(ground: Ground, since: datetime) -> str:
    """Why it is not well again since then; empty when it is: passes go on, it leads, pages are read."""
    found = ground.api()
    if not found:
        return "REST does not answer"
    if found["error"]:
        return f"an error stands: {found['error']}"
    if datetime.fromisoformat(found["last_pass"]["started_at"]) <= since:
        return "no pass has begun"
    renewed = ground.renewed()
    if not renewed or datetime.fromisoformat(renewed) <= since:
        return "nobody leads"
    [row] = ground.store.rows("SELECT holds FROM clusters_clusterstatus")
    if str(row["holds"]) != "[]":
        return f"evictions are held back: {row['holds']}"
    return unread(ground)


def unread(ground: Ground) -> str:
    """Which pages can't be read; empty when all can."""
    return ", ".join(f"{page} is answered with {code}" for page in PAGES if (code := ground.status(page)) != 200)


def unsettled(ground: Ground) -> str:
    """What is not at its end yet, though all have room; empty when all is."""
    if rows := ground.store.rows(_OPEN):
        return f"decisions are open: {[dict(row) for row in rows]}"
    nodes = ground.cluster.request("GET", "/api/v1/nodes")["items"]
    if kept := [
        node["metadata"]["name"]
        for node in nodes
        if any(taint["key"] == RESERVED_TAINT_KEY for taint in node["spec"].get("taints") or ())
    ]:
        return f"nodes are kept: {kept}"
    runs = {queue: len(ground.cluster.running(queue)) for queue in CALM}
    return "" if runs == CALM else f"of pods there run {runs}, not {CALM}"
