"""``python -m engine lint``: a queues.yaml in, a line for each finding out."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import SOME_ERRORS, SOUND, USAGE, main

ODD = """
partitions:
  - name: default
    queues:
      - name: prod
        properties: {preemption.policy: fence}
        resources: {guaranteed: {vcore: 4}}
      - name: test
        resources: {guaranteed: {vcore: 2}}
"""


def linted(folder: Path, document: str | bytes) -> int:
    """The exit code for a document."""
    path = folder / "queues.yaml"
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    return main(["lint", str(path)])


def test_each_finding_has_its_queue_its_sentence_and_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tree without an error is sound, whatever is odd about it."""
    assert linted(tmp_path, ODD) == SOUND
    assert capsys.readouterr().out == (
        "info: root.prod: Its own fence lets nothing out, so it can’t preempt, regardless of "
        "its guarantee. If it should preempt, set the fence on its parent queue instead.\n"
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            ODD.replace("{vcore: 2}", "{vcore: 2}, max: {vcore: 1}"),
            (
                "error: root.test: The guarantee of 2 cpu is above the max of root.test, 1, so "
                "it can’t be fulfilled. Lower the guarantee, or raise the max of root.test to 2."
            ),
        ),
        ("partitions: 3", "error: "),
        ("", "error: "),
    ],
)
def test_an_error_is_no_success(document: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree that contradicts itself, and a document that is none."""
    assert linted(tmp_path, document) == SOME_ERRORS
    assert said in capsys.readouterr().out


def test_what_can_not_be_read_at_all_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file, no text."""
    assert linted(tmp_path, b"\xff\xfe") == USAGE
    assert main(["lint", str(tmp_path / "none")]) == USAGE
    assert "No such file" in capsys.readouterr().err


def test_it_reads_standard_input() -> None:
    """As part of a pipe."""
    done = subprocess.run([sys.executable, "-m", "engine", "lint"], input=ODD.encode(), capture_output=True, check=True)
    assert done.stdout.startswith(b"info: root.prod")
