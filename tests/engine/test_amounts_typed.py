"""An amount that is changed stays in its place and is typed as it was: quoted or not, among its neighbours."""

import msgspec
import pytest

from engine.formats.registry import Format, read, write
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree

YUNIKORN = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: prod
            resources:
              guaranteed: {memory: 12Gi, vcore: 4, nvidia.com/gpu: 2}
              max:
                memory: "24Gi"
                vcore: '8'
"""
KUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: prod
spec:
  namespaceSelector: {}
  cohortName: root
  resourceGroups:
    - coveredResources: [memory, cpu]
      flavors:
        - name: default
          resources:
            - {name: memory, nominalQuota: "12Gi"}
            - {name: cpu, nominalQuota: 4}
"""
VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: prod
spec:
  reclaimable: true
  deserved: {memory: 12Gi, cpu: 4}
  capability:
    memory: "24Gi"
    cpu: "8"
"""


def changed(form: Format, text: str, guaranteed: Amounts, most: Amounts | None = None) -> str:
    """The document with other amounts of root.prod."""
    tree = read(text, form).tree
    prod = tree["root.prod"]
    amounts = {"guaranteed": {**prod.guaranteed, **guaranteed}, "max": {**prod.max, **(most or {})}}
    queues = {**tree.queues, "root.prod": msgspec.structs.replace(prod, **amounts)}
    return write(form, text, QueueTree(queues.values(), tree.placement)).text


@pytest.mark.parametrize(
    ("form", "text", "before", "after"),
    [
        (Format.YUNIKORN, YUNIKORN, "{memory: 12Gi, vcore: 4, nv", "{memory: 12Gi, vcore: 6, nv"),
        (Format.KUEUE, KUEUE, "nominalQuota: 4}", "nominalQuota: 6}"),
        (Format.VOLCANO, VOLCANO, "{memory: 12Gi, cpu: 4}", "{memory: 12Gi, cpu: 6}"),
    ],
)
def test_a_changed_amount_stays_in_its_place_and_without_quotes(
    form: Format, text: str, before: str, after: str
) -> None:
    """All else is as it was, to the byte."""
    assert changed(form, text, {"cpu": 6000}) == text.replace(before, after)


@pytest.mark.parametrize(("form", "text"), [(Format.YUNIKORN, YUNIKORN), (Format.VOLCANO, VOLCANO)])
def test_a_changed_amount_keeps_its_quotes(form: Format, text: str) -> None:
    """Single ones and double ones."""
    wanted = text.replace("'8'", "'9'").replace('"8"', '"9"').replace('"24Gi"', '"32Gi"')
    assert changed(form, text, {}, {"cpu": 9000, "memory": 32 * 1024**3}) == wanted


def test_a_part_of_a_core_and_a_new_resource_are_typed_like_their_neighbours() -> None:
    """Where these have no quotes, they have none."""
    assert changed(Format.YUNIKORN, YUNIKORN, {"cpu": 4500, "disks": 3}) == YUNIKORN.replace(
        "{memory: 12Gi, vcore: 4, nvidia.com/gpu: 2}", "{memory: 12Gi, vcore: 4500m, nvidia.com/gpu: 2, disks: 3}"
    )
