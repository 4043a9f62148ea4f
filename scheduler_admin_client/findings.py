"""What a plan says, as a list: every finding of lint, the forecast of every cluster, or what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_admin_client.words import _, ngettext


@dataclass(frozen=True)
class Finding:
    """One thing that is said of a document."""

    kind: str
    """``lint``, ``forecast``, ``orphans`` or ``document``."""
    about: str
    """A queue, or a cluster."""
    level: str
    """``info``, ``warning`` or ``error``."""
    text: str
    place: str = ""
    """A line, or a pointer."""
    failed: bool = False
    """Whether the answer is no because of it."""

    @property
    def line(self) -> int | None:
        """Where it is about a line."""
        return int(self.place) if self.place.isdecimal() else None


def of_result(result: Mapping[str, Any], ruled_out: list[Mapping[str, Any]]) -> Iterator[Finding]:
    """All that the API says of a tree that could be published; ``ruled_out`` are the errors of fail_on."""
    said = {(one["detail"], one.get("queue", ""), one.get("cluster")) for one in ruled_out}
    for row in result["findings"]:
        failed = (row["sentence"], row["queue"], row["cluster"]) in said
        level = "error" if failed else row["severity"]
        yield Finding("lint", row["queue"], level, _sentences(row["sentence"], row["remedy"]), _place(row), failed)
    forecast_errors = [one for one in ruled_out if "queue" not in one and "cluster" in one]
    for row in result["forecasts"]:
        against = [one["detail"] for one in forecast_errors if one["cluster"] == row["cluster"]]
        lost = row["orphans"]["sentence"] if row["orphans"] else ""
        yield _of_forecast(row, [one for one in against if one != lost])
        if lost:
            level = "error" if lost in against else "warning"
            yield Finding("orphans", row["cluster"], level, lost, failed=lost in against)
    shown = {(row["sentence"], row["queue"]) for row in result["findings"]}
    for one in ruled_out:  # that no cluster uses the tree is of no cluster and no queue
        if "cluster" not in one and (one["detail"], one.get("queue", "")) not in shown:
            yield Finding("document", one.get("queue", ""), "error", one["detail"], failed=True)


def of_problem(problem: Mapping[str, Any]) -> Iterator[Finding]:
    """All that is wrong with a document."""
    for one in problem.get("errors") or [{"detail": problem["detail"]}]:
        text = _sentences(one["detail"], one.get("remedy", ""))
        yield Finding("document", one.get("queue", ""), "error", text, _place(one), failed=True)


def _of_forecast(row: Mapping[str, Any], against: list[str]) -> Finding:
    found, cluster = row["forecast"], row["cluster"]
    if found is None:
        level, said = "warning", [row["reason"]]
    else:
        level, said = ("warning" if found["caused_evictions"]["pods"] or found["loop"] else "info"), list(_told(found))
    return Finding("forecast", cluster, "error" if against else level, " ".join(against + said), "", bool(against))


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    caused, spared, total = (found[name]["pods"] for name in ("caused_evictions", "avoided_evictions", "total"))
    said = ngettext(
        "Preempts %(n)d pod, %(more)d because of the change.",
        "Preempts %(n)d pods, %(more)d because of the change.",
        total,
    )
    yield said % {"n": total, "more": caused}
    if spared:
        yield ngettext("The change spares %d pod.", "The change spares %d pods.", spared) % spared
    for group in found["caused_evictions"]["groups"]:
        pods = group["next_pass_pods"] + group["later_pass_pods"]
        said = ngettext(
            "%(n)d pod of %(whose)s on %(node)s is preempted for %(queue)s.",
            "%(n)d pods of %(whose)s on %(node)s are preempted for %(queue)s.",
            pods,
        )
        whose = f"{group['namespace']}/{group['application']}"
        yield said % {"n": pods, "whose": whose, "node": group["node"], "queue": group["preemptor_queue"]}
    if found["loop"]:
        yield _("The change leads to a preemption loop between these queues: %s.") % ", ".join(found["loop"]["queues"])
    for one in found["unreachable_guarantees"]:
        yield _("%s stays below its guarantee.") % one["queue"]


def _place(row: Mapping[str, Any]) -> str:
    return str(row.get("line") or row.get("pointer") or row.get("parameter") or "")


def _sentences(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
