"""Objects of a cluster that can't be read, as its status keeps some of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster

_KEPT = 200
_LONGEST_REASON = 300
_POD = "Pod "


class UnreadPod(NamedTuple):
    """A pod that can't be read as it is."""

    cluster: str
    namespace: str
    name: str
    why: str
    since: datetime


def kept(odd: Mapping[str, str], former: Iterable[Mapping[str, Any]], now: datetime) -> list[dict[str, Any]]:
    """Some of them in order of their names, each with why, and since when that is known.

    The first of every namespace come before the second of any, so that no tenant's hides those of another.
    """
    since = {one["object"]: one["since_ms"] for one in former}
    now_ms = int(now.timestamp() * 1000)
    seen: Counter[str] = Counter()
    turns: list[tuple[int, str]] = []
    for name in sorted(odd):
        space = name.rpartition("/")[0]
        turns.append((seen[space], name))
        seen[space] += 1
    chosen = sorted(name for _turn, name in sorted(turns)[:_KEPT])
    return [
        {"object": name, "why": odd[name][:_LONGEST_REASON], "since_ms": since.get(name, now_ms)} for name in chosen
    ]


def unread_pods(scope: Scope, clusters: Iterable[Cluster]) -> Iterator[UnreadPod]:
    """A tenant's own pods that can't be read, of the namespaces that are theirs; nothing for who sees everything.

    Which queue such a pod is in may not be known, so who has a part of a namespace alone is told of none.
    """
    if scope.everything or scope.narrowed or scope.namespaces is None:
        return
    for cluster in clusters:
        status = getattr(cluster, "status", None)
        for one in status.odd if status else ():
            namespace, slash, name = str(one["object"]).removeprefix(_POD).partition("/")
            if str(one["object"]).startswith(_POD) and slash and namespace in scope.namespaces:
                since = datetime.fromtimestamp(one["since_ms"] / 1000, UTC)
                yield UnreadPod(cluster.name, namespace, name, one["why"], since)
