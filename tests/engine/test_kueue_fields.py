"""Fields that the version of one of Kueue's objects does not have, which the API server drops without a word."""

import pytest

from engine.formats.registry import read
from engine.model.notes import Severity

QUOTA = "{name: cpu, nominalQuota: 4}"


def queue(version: str, fields: str, *, quota: str = QUOTA) -> str:
    """A ClusterQueue with these fields in its spec, beside its quota."""
    return f"""\
apiVersion: kueue.x-k8s.io/{version}
kind: ClusterQueue
metadata: {{name: newcomer}}
spec:
  {fields}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{{name: default, resources: [{quota}]}}]
"""


@pytest.mark.parametrize(
    ("version", "field", "near"),
    [
        ("v1beta2", "cohort: all", "cohortName"),
        ("v1beta1", "cohortName: all", "cohort"),
        ("v1beta2", "preemptions: {}", "preemption"),
    ],
)
def test_a_field_of_another_version_or_mistyped_is_warned_of(version: str, field: str, near: str) -> None:
    """With the one that was meant."""
    (note,) = [one for one in read(queue(version, field)).notes if one.severity is Severity.WARNING]
    name = field.partition(":")[0]
    says = f"ClusterQueue {version} has no field {name}, so the API server drops it. Did you mean {near}?"
    assert (note.text, note.line) == (says, 5)


def test_a_field_that_it_has_is_only_kept() -> None:
    """There is nothing to mend."""
    notes = read(queue("v1beta2", "queueingStrategy: StrictFIFO")).notes
    assert {note.severity for note in notes} == {Severity.INFO}


def test_a_quota_beyond_64_bits_is_as_good_as_none() -> None:
    """Kueue accepts it."""
    tree = read(queue("v1beta2", "cohortName: all", quota="{name: cpu, nominalQuota: 1E}")).tree
    assert tree["root.all.newcomer"].guaranteed == {"cpu": 2**63 - 1}
