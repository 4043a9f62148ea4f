"""Kueue as far as tests need it: its kind Workload, and what it writes there when it preempts."""

import time
from collections.abc import Iterable
from typing import Any

from engine.formats.kueue.object_kinds import KUEUE
from engine.formats.tree_objects import parse
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.waiting import wait_for

GROUP = "kueue.x-k8s.io"
NEWEST, OLDER = "v1beta2", "v1beta1"
_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
_RESTING = {
    "suspend": True,
    "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}},
}
TEXTS = {
    "InClusterQueue": "prioritization in the ClusterQueue",
    "InCohortReclamation": "reclamation within the cohort",
    "InCohortFairSharing": "Fair Sharing within the cohort",
    "InCohortReclaimWhileBorrowing": "reclamation within the cohort while borrowing",
}
"""Its reasons, and its words for them."""


def install(cluster: AnyCluster, version: str = NEWEST) -> None:
    """Let the API server serve Workloads, as installing Kueue does."""
    _serve(cluster, (("Workload", "Namespaced"),), version)


_QUEUES = (("Cohort", "Cluster"), ("ClusterQueue", "Cluster"), ("LocalQueue", "Namespaced"))
_FLAVOR = ("ResourceFlavor", "Cluster")


def install_quota(cluster: AnyCluster, version: str = NEWEST) -> None:
    """All that Kueue decides by: the queues and ResourceFlavors, beside Workloads."""
    install(cluster, version)
    _serve(cluster, (*_QUEUES, _FLAVOR), version)


def install_queues(cluster: AnyCluster, version: str = NEWEST) -> None:
    """Let the API server serve Cohorts, ClusterQueues and LocalQueues; the next cluster has none of them."""
    _serve(cluster, _QUEUES, version)


def _serve(cluster: AnyCluster, kinds: Iterable[tuple[str, str]], version: str) -> None:
    kinds = tuple(kinds)
    for kind, scope in kinds:
        plural = f"{kind.lower()}s"
        served = {"name": version, "served": True, "storage": True, "schema": _ANYTHING, "subresources": {"status": {}}}
        names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
        spec = {"group": GROUP, "scope": scope, "names": names, "versions": [served]}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
        crd["metadata"] = {"name": f"{plural}.{GROUP}"}
        wait_for(lambda crd=crd: cluster.raw("POST", path_of(_CRDS), crd)[0] == 201, "the former one is gone")
    for kind, _scope in kinds:
        here = f"/apis/{GROUP}/{version}/{kind.lower()}s"
        wait_for(lambda here=here: cluster.raw("GET", here)[0] == 200, f"{here} is served")


def make(cluster: AnyCluster, text: str) -> None:
    """Create the objects of a text, those first that others name."""
    for one in parse(KUEUE, text).values():
        space = f"/namespaces/{one.namespace}" if one.namespace else ""
        cluster.send("POST", f"/apis/{one.body['apiVersion']}{space}/{one.kind.lower()}s", one.body)


def three(namespace: str, cpu: str = "4", *, local: str = "default") -> str:
    """A Cohort, a ClusterQueue in it and the LocalQueue that leads there, as a text."""
    return f"""\
---
apiVersion: {GROUP}/{NEWEST}
kind: Cohort
metadata:
  name: company
spec: {{}}
---
apiVersion: {GROUP}/{NEWEST}
kind: ClusterQueue
metadata:
  name: research
spec:
  cohortName: company
  namespaceSelector: {{}}
  resourceGroups:
    - coveredResources: [cpu]
      flavors:
        - name: default
          resources:
            - name: cpu
              nominalQuota: "{cpu}"
---
apiVersion: {GROUP}/{NEWEST}
kind: LocalQueue
metadata:
  name: {local}
  namespace: {namespace}
spec:
  clusterQueue: research
"""


def uninstall(cluster: AnyCluster, version: str = NEWEST) -> None:
    """Take it back, with all Workloads."""
    cluster.send("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.{GROUP}")
    wait_for(lambda: cluster.raw("GET", f"/apis/{GROUP}/{version}/workloads")[0] == 404, "Workloads are not served")


def path(cluster: AnyCluster, name: str = "", version: str = NEWEST) -> str:
    """Where a Workload of the test's namespace is, or all of them are."""
    return f"/apis/{GROUP}/{version}/namespaces/{cluster.namespace}/workloads" + (f"/{name}" if name else "")


def add_workload(
    cluster: AnyCluster, name: str, owner: str, *, priority: int = 0, version: str = NEWEST, queue: str = ""
) -> str:
    """One made for a Job, which is there or made now, as a Workload whose owner is not there is collected; its uid."""
    of = owner.removeprefix("Job/")
    job = cluster.find("jobs.batch", of) or cluster.create("jobs.batch", {"metadata": {"name": of}, "spec": _RESTING})
    uid_of_job = job["metadata"]["uid"]
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": of, "uid": uid_of_job, "controller": True}
    body = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Workload",
        "metadata": {"name": name, "ownerReferences": [reference]},
        "spec": {"priority": priority, "queueName": queue},
    }
    uid: str = cluster.send("POST", path(cluster, version=version), body)["metadata"]["uid"]
    return uid


def message(asker: str, why: str = "InCohortReclamation") -> str:
    """What it says of a Workload that it preempted."""
    paths = "preemptor path: /cohort/cq-b; preemptee path: /cohort/cq-a"
    return f"Preempted to accommodate a workload (UID: {asker}, JobUID: UNKNOWN) due to {TEXTS[why]}; {paths}"


def conditions(asker: str, why: str = "InCohortReclamation") -> list[dict[str, Any]]:
    """Both of them, as one patch of its scheduler sets them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    shared = {"status": "True", "message": message(asker, why), "lastTransitionTime": now}
    return [{"type": "Evicted", "reason": "Preempted", **shared}, {"type": "Preempted", "reason": why, **shared}]


def preempt(cluster: AnyCluster, name: str, asker: str, *, version: str = NEWEST) -> None:
    """Say that it was preempted for another (uid); its Job is stopped by others."""
    here = path(cluster, name, version)
    status = {"admission": {"clusterQueue": "cq-a"}, "conditions": conditions(asker)}
    cluster.send("PUT", f"{here}/status", {**cluster.send("GET", here), "status": status})
