"""docs/api.md, example by example."""

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path
from string import Template
from typing import Any

import pytest
from rest_framework.test import APIClient

from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.journal import PassInputs
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.status.quota import store_quota
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.services import events
from scheduler_admin.journal.models import JournalEntry, JournalSegment, Pass
from scheduler_admin.ledger.models import LedgerEntry
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.drafts.selectors import tag
from scheduler_admin.queues.models import Revision
from tests.api import builders
from tests.api.builders import NOW, RED, decision, red_pod, usage
from tests.api.clusters.test_settings import SETTINGS
from tests.api.sending import PROD
from tests.builders import rewrite
from tests.engine import quota_builders as quota

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
QUEUES = next(block for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL) if "partitions:" in block)
EXAMPLES = re.findall(r"```sh\ncurl (.*?)\n```(?:\n\n```json\n(.*?)\n```)?", TEXT, re.DOTALL)


def contained(want: Any, found: Any) -> bool:
    """Whether everything wanted is there; what else there is doesn't matter, nor which number a row got as its ID."""
    if isinstance(want, dict):
        return isinstance(found, dict) and all(
            key in found and ((key == "id" and isinstance(found[key], int)) or contained(value, found[key]))
            for key, value in want.items()
        )
    if isinstance(want, list):
        return len(want) <= len(found) and all(map(contained, want, found))
    return bool(want == found)


def send(command: str, known: dict[str, str]) -> Any:
    """What curl would get."""
    words = [Template(word).substitute(known, SITE="") for word in shlex.split(command.replace("\\\n", ""))]
    headers, data, method = {}, "", "GET"
    while len(words) > 1:
        match words.pop(0):
            case "-H":
                name, value = words.pop(0).split(": ", 1)
                headers[name] = value
            case "-X":
                method = words.pop(0)
            case "-d":
                data = words.pop(0)
            case "--data-binary":
                assert words.pop(0) == "@queues.yaml"
                data = QUEUES
            case "-D" | "-o":
                words.pop(0)
            case other:
                assert other in {"-i", "-N", "--fail-with-body"}
    kind = headers.pop("Content-Type", "application/x-www-form-urlencoded")  # curl's, where there is a body
    return APIClient().generic(method, words[0], data, content_type=kind, headers=headers)


def test_there_are_examples() -> None:
    """The pattern above finds every curl of the text."""
    assert len(EXAMPLES) == TEXT.count("curl ") > 5


@pytest.fixture
def known(db: None) -> dict[str, str]:
    """What the examples call by a name."""
    cluster = builders.cluster(blues_namespace="blue")
    rewrite(Revision.objects.all(), author_name="ci", reason="the first tree")
    row = decision(cluster, ask=red_pod("train-7"), victims=(red_pod("etl-3"),), pk=1)
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.CLOSED, ending=Decision.Ending.BOUND)
    LedgerEntry.objects.create(
        cluster=cluster,
        month=NOW.date().replace(day=1),
        source=Decision.Source.ENGINE,
        losing_namespace="red",
        losing_queue=RED,
        gaining_namespace="blue",
        gaining_queue="root.blue.serving",
        pods=1,
        requests={"cpu": 4500},
        work={"cpu": 68_040_000},
    )
    figures = {"took_us": 1500, "asks": 2, "decided": 1}
    Pass.objects.create(cluster=cluster, revision=row.revision, at=NOW - timedelta(minutes=1), **figures)
    events.decided(cluster, [row], NOW)
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1500, 2000])
    kueue = ClusterState()
    kueue.cluster_queues["batch"] = quota.queue("batch", "red", cpu=6000)
    kueue.cluster_queues["other"] = quota.queue("other", "red", cpu=10000)
    kueue.workloads["w"] = quota.holds("w", "batch", cpu=9000)
    store_quota(cluster=cluster, state=kueue, known=True, waits=False, now=NOW)
    ci = builders.user("ci", role=User.Role.ADMIN)
    tokens = {"TOKEN": ["tree:write"], "READ_TOKEN": ["read"], "RED_TOKEN": ["tree:plan"]}
    tokens["OPERATE_TOKEN"], tokens["NOTIFY_TOKEN"] = ["cluster:operate"], ["tenant:notify"]
    tokens["CONNECT_TOKEN"], tokens["SITE_TOKEN"] = ["cluster:connect"], ["site:administer"]
    channel = add_channel(
        tenant=builders.red_tenant(), kind="email", address="red@example.com", values={"name": "mail"}, actor=None
    )
    Channel.objects.filter(pk=channel.pk).update(id=1)
    Notification.objects.create(
        channel_id=1,
        guid="7b0c1ad8-3a8e-4f4c-9d6f-6a5b0b1c2d3e",
        event=Notification.Event.PREEMPTED,
        about="prod red/etl",
        lines=["Pod etl-3 in namespace red was preempted."],
        link="http://127.0.0.1:8000/pods/prod/red/etl-3/",
        state=Notification.State.FAILED,
        created_at=NOW,
        due_at=NOW,
    )
    create_user(username="pipelines", role=User.Role.ADMIN, service=True)
    made = {
        name: create_token(user=ci, name=name, scopes=scopes, subtree="root.red" * (name == "RED_TOKEN"))[1]
        for name, scopes in tokens.items()
    }
    tree = APIClient().get(PROD, headers={"Authorization": f"Bearer {made['TOKEN']}"})
    settings = APIClient().get(SETTINGS, headers={"Authorization": f"Bearer {made['TOKEN']}"})
    assert cluster.hierarchy
    draft = start(hierarchy=cluster.hierarchy, name="more for batch", author=ci)
    tenant = APIClient().get("/api/v1/tenants/red", headers={"Authorization": f"Bearer {made['TOKEN']}"})
    tags = {"ETAG": tree["ETag"], "SETTINGS_ETAG": settings["ETag"], "TENANT_ETAG": tenant["ETag"]}
    drafts = {"DRAFT": str(draft.pk), "DRAFT_ETAG": tag(draft)}
    return {**made, **drafts, **tags, "REASON": "more%20for%20batch"}


def seen() -> None:
    """A pass has seen the cluster, in which nothing was."""
    blob = journal.encode_keyframe(ClusterState(), PassInputs(now_ms=int(NOW.timestamp() * 1000)))
    cluster = Cluster.objects.get(name="prod")
    segment = JournalSegment.objects.create(cluster=cluster, began_at=NOW, entries=1, size=len(blob))
    JournalEntry.objects.create(segment=segment, offset=0, at=NOW, blob=blob)


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_examples_are_true(known: dict[str, str], command: str, answer: str) -> None:
    """Each command of docs/api.md gets the answer that stands below it."""
    if "/comparisons" in command or "/snapshots" in command:  # the others are about a cluster that nobody has seen yet
        seen()
    response = send(command, known)
    if response.streaming:
        (text,) = re.findall(r"```\n(retry: .*?)\.\.\.", TEXT, re.DOTALL)
        assert response.getvalue().decode().startswith(text)
    elif answer:
        assert contained(json.loads(answer), response.json()), response.json()
    else:
        assert (response.status_code, "ETag" in response) == (200, True)
