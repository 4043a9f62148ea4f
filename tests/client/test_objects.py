"""Tenants and notification channels declared in files: planned, applied, found changed, and deleted only if asked."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import time_machine
import yaml

from scheduler_admin.accounts.models import AuditEvent, Tenant
from scheduler_admin.accounts.services.tenants import change_tenant, create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.notifications.models import Channel
from scheduler_admin_client.objects.manifests import schema, snake
from tests.api.builders import NOW
from tests.api.document import read
from tests.client.conftest import Run, token_of
from tests.client.test_ci import DECLARED

pytestmark = pytest.mark.django_db(transaction=True)
HOOK = "https://hooks.example.com/services/hunter2"
OBJECTS = """\
apiVersion: scheduler-admin.io/v1
kind: NotificationChannel
metadata:
  name: alerts
spec:
  tenant: red
  kind: webhook
  addressFrom: {env: RED_WEBHOOK}
  secretFrom: {env: RED_SECRET}
  belowGuaranteeMinutes: 15
---
apiVersion: scheduler-admin.io/v1
kind: Tenant
metadata:
  name: red
spec:
  namespaces: [red, red-dev]
  subtrees: [root.red]
"""
APPLY = ("apply", "-f", "objects", "--reason", "declared in Git")
NEW = "tenant: red; kind: webhook; below_guarantee_minutes: 15; destination: hooks.example.com"
CREATED = [
    '+ Tenant/red (namespaces: ["red", "red-dev"]; subtrees: ["root.red"])',
    f"+ NotificationChannel/red/alerts ({NEW})",
    "Objects: 2 to create, 0 to change, 0 to delete.",
]


@pytest.fixture
def objects(site: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """objects/all.yaml in the working directory, and the secrets in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RED_WEBHOOK", HOOK)
    monkeypatch.setenv("RED_SECRET", SECRET)
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", token_of("root", "site:administer", "tenant:notify"))
    path = Path("objects") / "all.yaml"
    path.parent.mkdir()
    path.write_text(OBJECTS)
    with time_machine.travel(NOW, tick=False):
        yield path


SECRET = "whsec_" + "c2VjcmV0LW9mLWEtdGVzdC10aGF0LXNpZ25z"


def test_a_plan_shows_what_is_missing_and_changes_nothing(objects: Path, run: Run) -> None:
    """Tenants come first, whatever their place. No secret is shown."""
    said = run("plan", "-f", "objects")
    assert (said.code, said.out.splitlines(), said.err) == (2, CREATED, "")
    assert "hunter2" not in said.out
    assert (Tenant.objects.count(), Channel.objects.count()) == (0, 0)


def test_applying_makes_it_so_and_applying_again_changes_nothing(objects: Path, run: Run) -> None:
    """The audit log has the reason."""
    said = run(*APPLY)
    assert (said.code, said.out.splitlines(), said.err) == (0, CREATED, "")
    tenant, channel = Tenant.objects.get(), Channel.objects.get()
    assert (tenant.namespaces, channel.below_min, channel.address) == (["red", "red-dev"], 15, "hooks.example.com")
    assert AuditEvent.objects.get(verb="tenant.create").reason == "declared in Git"
    for command in (APPLY, ("plan", "-f", "objects")):
        again = run(*command)
        assert (again.code, again.out) == (0, "Objects: 0 to create, 0 to change, 0 to delete.\n")


def test_drift_is_found_and_undone(objects: Path, run: Run) -> None:
    """What somebody changed elsewhere; what the files leave out stays as it is."""
    run(*APPLY)
    change_tenant(tenant=Tenant.objects.get(), namespaces=["red"], actor=None, reason="by hand")
    Channel.objects.update(below_min=None, digest=True)
    drift = run("plan", "-f", "objects", "--output", "json")
    assert drift.code == 2
    steps = json.loads(drift.out)["steps"]
    assert [(step["action"], step["object"]) for step in steps] == [
        ("update", "Tenant/red"),
        ("update", "NotificationChannel/red/alerts"),
    ]
    assert steps[1]["changes"] == {"below_guarantee_minutes": {"now": None, "declared": 15}}
    assert run(*APPLY).code == 0
    channel = Channel.objects.get()
    assert (Tenant.objects.get().namespaces, channel.below_min, channel.digest) == (["red", "red-dev"], 15, True)


def test_what_is_not_declared_is_deleted_only_if_asked(objects: Path, run: Run) -> None:
    """And only of the kinds that the files declare."""
    run(*APPLY)
    create_tenant(name="blue")
    kept = run(*APPLY)
    assert kept.out.splitlines()[0] == "? Tenant/blue is not declared. It stays, unless you add --prune."
    assert (kept.code, Tenant.objects.count()) == (0, 2)
    objects.write_text(OBJECTS.partition("---\n")[2])
    pruned = run(*APPLY, "--prune")
    assert pruned.out.splitlines()[0] == "- Tenant/blue"
    assert ([each.name for each in Tenant.objects.all()], Channel.objects.count()) == (["red"], 1)


def test_a_secret_comes_from_the_environment_alone(objects: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan does without it, apply does not, and then has changed nothing; it is sent again if asked."""
    monkeypatch.delenv("RED_SECRET")
    assert run("plan", "-f", "objects").code == 2
    said = run(*APPLY)
    assert (said.code, said.err) == (1, "objects/all.yaml#1: The environment variable RED_SECRET is not set.\n")
    assert not Tenant.objects.exists()
    monkeypatch.setenv("RED_SECRET", SECRET)
    run(*APPLY)
    sealed = Channel.objects.get().sealed
    monkeypatch.setenv("RED_WEBHOOK", "https://hooks.example.com/services/another")
    assert run(*APPLY).out.startswith("Objects: 0")
    assert "~ NotificationChannel/red/alerts (secrets)" in run(*APPLY, "--resend-secrets").out
    assert Channel.objects.get().sealed != sealed


SITE = """\
apiVersion: scheduler-admin.io/v1
kind: NotificationChannel
metadata: {name: operations}
spec:
  kind: webhook
  addressFrom: {env: RED_WEBHOOK}
  secretFrom: {env: RED_SECRET}
  siteEvents: [revision-published, mode-changed]
  payloadFormat: cloudevents
"""


def test_a_channel_of_the_site_has_no_tenant(objects: Path, run: Run) -> None:
    """Those who run the site declare theirs in the same way."""
    objects.write_text(SITE)
    said = run(*APPLY)
    assert said.err == ""
    assert said.out.splitlines()[-1] == "Objects: 1 to create, 0 to change, 0 to delete."
    made = Channel.objects.get()
    assert (made.tenant, sorted(made.site_events)) == (None, ["mode-changed", "revision-published"])
    assert run("plan", "-f", "objects").code == 0
    objects.write_text(OBJECTS)
    assert run("plan", "-f", "objects", "--prune").out.splitlines()[-2] == "- NotificationChannel/operations"


HEAD = "apiVersion: scheduler-admin.io/v1\nkind: {}\nmetadata: {{name: x}}\nspec: {}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "cannot be read"),
        ("- 1", "needs apiVersion"),
        ("apiVersion: v1\nkind: Tenant\nmetadata: {name: x}\nspec: {}", "needs apiVersion"),
        (HEAD.format("Queue", "{}"), "Unknown kind Queue"),
        (HEAD.format("Tenant", "{colour: red}"), "spec.colour is unknown"),
        (HEAD.format("Tenant", "{namespaces: red}"), "spec.namespaces has a wrong value"),
        (HEAD.format("Tenant", "{}").replace("name: x", "name: 1"), "metadata needs a name"),
        (HEAD.format("NotificationChannel", "{tenant: red}"), "spec needs kind"),
        (HEAD.format("NotificationChannel", "{kind: webhook, address: 'https://x'}"), "addressFrom, secretFrom"),
        (HEAD.format("NotificationChannel", "{kind: slack, addressFrom: hunter2}"), "spec.addressFrom has a wrong"),
        (HEAD.format("NotificationChannel", "{kind: pager}"), "spec.kind has a wrong value"),
        (HEAD.format("Tenant", "{}") + "---\n" + HEAD.format("Tenant", "{}"), "is already declared"),
        ("", "declare no object"),
    ],
)
def test_a_file_that_declares_nothing_sensible_is_refused(objects: Path, run: Run, text: str, why: str) -> None:
    """Before anything is sent, with its place; the JSON Schema refuses what stands alone, too."""
    objects.write_text(text)
    said = run(*APPLY)
    assert (said.code, said.out, why in said.err) == (1, "", True), said.err
    assert not Tenant.objects.exists()
    documents = list(yaml.safe_load_all(text)) if text != "a: [" else []
    if len(documents) == 1:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(documents[0], schema())


def test_what_the_site_refuses_is_told(objects: Path, run: Run) -> None:
    """In its words, after what it is about; what was done before stays done, and is told."""
    objects.write_text(OBJECTS.replace("belowGuaranteeMinutes: 15", "belowGuaranteeMinutes: 0"))
    said = run(*APPLY)
    assert (said.code, said.out.splitlines(), Tenant.objects.count()) == (1, CREATED[:1], 1)
    assert said.err.splitlines()[0] == "NotificationChannel/red/alerts was not applied:"
    assert "/below_guarantee_minutes: error:" in said.err


def test_the_schema_describes_what_the_site_takes() -> None:
    """And what the guide shows. Members are those of the REST API; secrets are named and never written."""
    for document in (*yaml.safe_load_all(OBJECTS), *DECLARED):
        jsonschema.validate(document, schema())
    described = read()["components"]["schemas"]
    for kind, component in (("Tenant", "TenantWriteRequest"), ("NotificationChannel", "NewNotificationChannelRequest")):
        members = {snake(name.removesuffix("From")) for name in schema()["$defs"][kind]["properties"]}
        assert {*members, "name"} == set(described[component]["properties"]), kind


def test_help_is_about_both(run: Run) -> None:
    """``-f`` leads to the other command."""
    assert "see plan -f - --help" in run("plan", "--help").out.replace("\n  ", " ")
    assert "--prune" in run("plan", "-f", "-", "--help").out
