"""The line of every setting of a queues.yaml."""

import pytest

from engine.formats.yunikorn.document import load
from engine.formats.yunikorn.document_lines import DocumentLines

IMPLIED_ROOT = """partitions:
  - name: other
    queues: []
  - name: default
    queues:
      - name: a
        properties:
          preemption.delay: 5s
        queues:
          - name: b
            resources:
              guaranteed: {vcore: 4,
                 nvidia.com/gpu: 3}
              max:
                memory: 4
"""
NAMED_ROOT = """partitions:
  - name: default
    queues:
      - name: Root
        queues:
          - {name: a, resources: {max: {cpu: 1}}}
"""


@pytest.mark.parametrize(
    ("path", "field", "line"),
    [
        ("root.a", "", 6),
        ("root.a", "delay", 8),
        ("root.a", "preemption_policy", 6),
        ("root.a", "guaranteed/cpu", 6),
        ("root.a.b", "", 10),
        ("root.a.b", "guaranteed/cpu", 12),
        ("root.a.b", "guaranteed/nvidia.com~1gpu", 13),
        ("root.a.b", "max", 14),
        ("root.a.b", "max/memory", 15),
        ("root.a.b", "max/cpu", 14),
        ("root.a.b", "namespaces/0", 10),
        ("root", "", None),
        ("root.none", "delay", None),
    ],
)
def test_a_setting_has_its_line(path: str, field: str, line: int | None) -> None:
    """Its own, else that of what holds it, else its queue's; an implied root stands nowhere."""
    assert DocumentLines(load(IMPLIED_ROOT)).find(path, field) == line


def test_a_root_that_is_named_has_its_line() -> None:
    """In any case of letters; cpu, which YuniKorn calls vcore, is found under either name."""
    lines = DocumentLines(load(NAMED_ROOT))
    assert (lines.find("root"), lines.find("root.a", "max/cpu")) == (4, 6)


def test_a_document_that_is_not_text_has_no_lines() -> None:
    """There is nothing to point at."""
    document = {"partitions": [{"name": "default", "queues": [{"name": "root"}]}]}
    assert DocumentLines(load(document)).find("root") is None
