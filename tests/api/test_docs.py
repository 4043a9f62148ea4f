"""docs/api.md, example by example."""

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision
from tests.api.builders import NOW, RED, decision, red_pod, usage, user

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```sh\ncurl (.*?)\n```(?:\n\n```json\n(.*?)\n```)?", TEXT, re.DOTALL)


def contained(want: Any, found: Any) -> bool:
    """Whether everything wanted is there; what else there is doesn't matter."""
    if isinstance(want, dict):
        return isinstance(found, dict) and all(
            key in found and contained(value, found[key]) for key, value in want.items()
        )
    if isinstance(want, list):
        return len(want) <= len(found) and all(map(contained, want, found))
    return bool(want == found)


def send(command: str, token: str) -> Any:
    """What curl would get."""
    words = shlex.split(command.replace("$TOKEN", token).replace("$SITE", ""))
    address = words.pop()
    headers = [words[index + 1].split(": ", 1) for index, word in enumerate(words) if word == "-H"]
    assert set(words) - {f"{name}: {value}" for name, value in headers} <= {"-H", "-i"}
    return APIClient().get(address, headers=dict(headers))


def test_there_are_examples() -> None:
    """The pattern above finds every curl of the text."""
    assert len(EXAMPLES) == TEXT.count("curl ") > 5


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_examples_are_true(cluster: Cluster, command: str, answer: str) -> None:
    """Each command of docs/api.md gets the answer that stands below it."""
    row = decision(cluster, ask=red_pod("train-7"), victims=(red_pod("etl-3"),), pk=1)
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.CLOSED, ending=Decision.Ending.BOUND)
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1500, 2000])
    _token, plaintext = create_token(user=user("ci", role=User.Role.AUDITOR), name="docs")
    response = send(command, plaintext)
    if answer:
        assert contained(json.loads(answer), response.json()), response.json()
    else:
        assert (response.status_code, "ETag" in response) == (200, True)
