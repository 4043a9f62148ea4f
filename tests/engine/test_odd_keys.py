"""Keys that are misspelled or stand in the wrong place, in every format: never passed over in silence."""

import pytest

from engine.formats.registry import Format, read
from engine.model.notes import ImportFailure, Note, Severity

QUEUES = """partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: a
      {0}
"""
CLUSTER_QUEUE = """apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {{name: a}}
spec:
  {0}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: l, namespace: n}}
spec: {{clusterQueue: a{1}}}
"""
GROUPS = "resourceGroups: [{{coveredResources: [cpu]{0}, flavors: [{{name: d{1}, resources: [{{{2}}}]}}]}}]"
CONSUMER = """apiVersion: arbitrator.incubator.k8s.io/v1
kind: Consumer
metadata: {{name: a, namespace: n}}
spec:
  hard: {{cpu: 1}}
  {0}
"""
NAMED = """apiVersion: scheduling.{0}
kind: Queue
metadata: {{name: a}}
spec:
  {1}
"""
VOLCANO, KAI = "volcano.sh/v1beta1", "run.ai/v2"
LIMITED = "cpu: {limit: -1}, memory: {limit: -1}, gpu: {limit: -1"
OWN = """queues:
- path: root
- path: root.a
  {0}
"""


def quota(group: str = "", flavor: str = "", entry: str = "") -> str:
    """A ClusterQueue with more in a resource group, a flavor or a quota."""
    return CLUSTER_QUEUE.format(GROUPS.format(group, flavor, f"name: cpu, nominalQuota: 1{entry}"), "")


REFUSED, PASSED_OVER = Severity.ERROR, Severity.WARNING
ODD = {
    "yunikorn, a queue": (QUEUES.format("resource: {}"), REFUSED, "resources"),
    "yunikorn, capitals": (QUEUES.format("maxApplications: 1"), REFUSED, "maxapplications"),
    "yunikorn, beside resources": (QUEUES.format("guaranteed: {vcore: 1}"), REFUSED, "inside resources"),
    "yunikorn, resources": (QUEUES.format("resources: {guarantee: {vcore: 1}}"), REFUSED, "guaranteed"),
    "yunikorn, a property": (QUEUES.format("properties: {preemption.dely: 1s}"), PASSED_OVER, "preemption.delay"),
    "kueue, a spec": (CLUSTER_QUEUE.format("preemptions: {}", ""), PASSED_OVER, "preemption"),
    "kueue, preemption": (
        CLUSTER_QUEUE.format("preemption: {reclaimWithinCohorts: Any}", ""),
        PASSED_OVER,
        "reclaimWithinCohort",
    ),
    "kueue, a group": (quota(group=", flavours: []"), PASSED_OVER, "flavors"),
    "kueue, a flavor": (quota(flavor=", resource: []"), PASSED_OVER, "resources"),
    "kueue, a quota": (quota(entry=", borrowLimit: 1"), PASSED_OVER, "borrowingLimit"),
    "kueue, a LocalQueue": (CLUSTER_QUEUE.format("cohort: c", ", stopPolice: Hold"), PASSED_OVER, "stopPolicy"),
    "consumers": (CONSUMER.format("reserve: {cpu: 1}"), PASSED_OVER, "reserved"),
    "volcano": (NAMED.format(VOLCANO, "capabilities: {cpu: 1}"), PASSED_OVER, "capability"),
    "volcano, a guarantee": (NAMED.format(VOLCANO, "guarantee: {resources: {}}"), PASSED_OVER, "resource"),
    "kai": (NAMED.format(KAI, f"parent: root\n  resources: {{{LIMITED}}}}}"), PASSED_OVER, "parentQueue"),
    "kai, a resource": (NAMED.format(KAI, f"resources: {{{LIMITED}, quote: 1}}}}"), PASSED_OVER, "quota"),
    "scheduler-admin": (OWN.format("guarantee: {cpu: 1}"), REFUSED, "guaranteed"),
}


def said(document: str) -> tuple[Note, ...]:
    """All there is to say of a document, be it refused or not."""
    try:
        return read(document).notes
    except ImportFailure as failure:
        return failure.notes


@pytest.mark.parametrize("name", ODD)
def test_an_odd_key_is_told_with_what_was_meant(name: str) -> None:
    """An error where the system itself refuses the document, else a warning; never mere information."""
    document, severity, near = ODD[name]
    (note,) = [one for one in said(document) if one.severity is not Severity.INFO]
    assert note.severity is severity
    assert near in note.text
    assert note.line or name == "scheduler-admin"


def test_every_format_has_its_odd_keys() -> None:
    """A new one gets its line above."""
    assert {form: any(form.value in name for name in ODD) for form in Format} == dict.fromkeys(Format, True)


@pytest.mark.parametrize("fields", ["", "maxapplications: 3", "properties: {application.sort.policy: fifo}"])
def test_what_its_system_knows_is_no_warning(fields: str) -> None:
    """It is kept, though it means nothing here."""
    assert {one.severity for one in said(QUEUES.format(fields))} <= {Severity.INFO}
