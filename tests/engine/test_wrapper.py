"""A queues.yaml inside another document is read and written back there: most files that people have are such."""

import json
import re
from textwrap import indent

import msgspec
import pytest

from engine.formats.registry import Format, detect, read, write
from engine.model.notes import ImportFailure
from engine.model.queue_tree import QueueTree

QUEUES = """\
# what we agreed on
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: prod
            resources:
              guaranteed: {vcore: 4}
          - name: test
"""
CONFIG_MAP = f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: yunikorn-configs  # of the scheduler
data:
  service.schedulingInterval: "1s"
  queues.yaml: |
{indent(QUEUES, "    ")}"""
HELM = f"""\
replicas: 1
yunikornDefaults:
  queues.yaml: |
{indent(QUEUES, "    ")}"""
LISTED = json.dumps({"kind": "List", "items": [{"kind": "ConfigMap", "data": {"queues.yaml": QUEUES}}]}, indent=4)
WRAPPED = {"ConfigMap": CONFIG_MAP, "Helm values": HELM, "kubectl get -o json": LISTED}


def with_guarantee(tree: QueueTree, cores: int) -> QueueTree:
    """The tree where Prod is guaranteed so many cores."""
    queues = {path: tree[path] for path in tree.walk()}
    queues["root.prod"] = msgspec.structs.replace(queues["root.prod"], guaranteed={"cpu": cores * 1000})
    return QueueTree(queues.values())


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_it_is_read_as_if_it_stood_alone(text: str) -> None:
    """And is known for what it is."""
    assert detect(text) is Format.YUNIKORN
    assert list(read(text).tree.walk()) == ["root", "root.prod", "root.test"]
    assert read(text).tree["root.prod"].guaranteed == {"cpu": 4000}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_it_is_written_back_into_what_it_lay_in(text: str) -> None:
    """With a change in it, and nothing else changed; without one, as it was typed."""
    tree = read(text).tree
    assert write(Format.YUNIKORN, text, tree).text == text
    written = write(Format.YUNIKORN, text, with_guarantee(tree, 5)).text
    assert read(written).tree["root.prod"].guaranteed == {"cpu": 5000}
    assert written == text.replace("vcore: 4", "vcore: 5")


@pytest.mark.parametrize(("text", "line"), [(CONFIG_MAP, 16), (HELM, 12), (LISTED, None)])
def test_what_is_wrong_is_told_at_its_line_in_the_whole(text: str, line: int | None) -> None:
    """Where it is written line by line."""
    with pytest.raises(ImportFailure) as failed:
        read(text.replace("{vcore: 4}", "{vcore: -4}"))
    (note,) = failed.value.notes
    assert (note.line, note.path) == (line, "root.prod")


def test_where_a_queue_came_from_is_its_line_in_the_whole() -> None:
    assert read(CONFIG_MAP).sources["root.prod"].line == 14


def test_of_several_none_is_guessed() -> None:
    """The keys are named."""
    twice = f"{CONFIG_MAP}  other.yaml: |\n{indent(QUEUES, '    ')}"
    with pytest.raises(ImportFailure, match=re.escape("more than one queues.yaml (other.yaml, queues.yaml)")):
        read(twice)
