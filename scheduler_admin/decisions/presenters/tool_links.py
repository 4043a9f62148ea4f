"""Links from pods and nodes to other tools, such as logs and dashboards, as the site's settings say."""

from datetime import datetime, timedelta

from django.utils import timezone

from engine.model.snapshot.node_listing import ListedPod
from scheduler_admin.accounts.link_templates import FilledLink, complete_links, time_range
from scheduler_admin.accounts.models import Site
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.pods import PodEvent

_BEFORE = timedelta(hours=1)
"""The times of a link begin so long before what it is about."""
_AFTER = timedelta(minutes=15)
"""They end so long after the pod exited, but not in the future."""


def listed_pod_links(site: Site, cluster: str, pod: ListedPod) -> list[FilledLink]:
    """Return the links of a pod that there is: of the last hour."""
    names = {"cluster": cluster, "namespace": pod.namespace, "pod": pod.name, "application": pod.application}
    places = {"node": pod.node or "", "queue": pod.queue or ""}
    return complete_links(site.pod_links, {**names, **places, **_last_hour()})


def event_links(site: Site, event: PodEvent, now: ListedPod | None) -> list[FilledLink]:
    """Return the links of the pod of an event; ``now`` is the pod as it is, None where it is gone or unknown."""
    if now is not None:
        return listed_pod_links(site, event.decision.cluster.name, now)
    if event.victim is not None:
        return victim_links(site, event.decision, event.victim)
    row = event.decision
    names = {"cluster": row.cluster.name, "namespace": row.ask_namespace, "pod": row.ask_name}
    node = row.node if row.ending == Decision.Ending.BOUND else ""
    places = {"node": node, "queue": row.ask_queue, "application": row.ask_application}
    gone_at = row.closed_at if row.ending == Decision.Ending.POD_GONE else None
    return complete_links(site.pod_links, {**names, **places, **_around(row.first_seen, gone_at)})


def victim_links(site: Site, row: Decision, victim: Victim) -> list[FilledLink]:
    """Return the links of a victim: around the time of its decision."""
    names = {"cluster": row.cluster.name, "namespace": victim.namespace, "pod": victim.name}
    places = {"node": victim.node, "queue": victim.queue, "application": victim.application}
    return complete_links(site.pod_links, {**names, **places, **_around(row.first_seen, victim.gone_at)})


def application_links(site: Site, cluster: str, namespace: str, application: str, queue: str) -> list[FilledLink]:
    """Return those links of pods that name no single pod or node: of the last hour."""
    facts = {"cluster": cluster, "namespace": namespace, "application": application, "queue": queue}
    return complete_links(site.pod_links, {**facts, **_last_hour()})


def node_links(site: Site, cluster: str, node: str) -> list[FilledLink]:
    """Return the links of a node: of the last hour."""
    return complete_links(site.node_links, {"cluster": cluster, "node": node, **_last_hour()})


def _last_hour() -> dict[str, str]:
    now = timezone.now()
    return time_range(now - _BEFORE, now)


def _around(decided: datetime, gone_at: datetime | None) -> dict[str, str]:
    """Return the times from before a decision until after the pod exited, or now where that is not known."""
    now = timezone.now()
    return time_range(decided - _BEFORE, min(now, gone_at + _AFTER) if gone_at else now)
