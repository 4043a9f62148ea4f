"""Credentials that are kept here: sealed, tried first, replaced without a restart, and shown to nobody."""

import io
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from cryptography.fernet import Fernet
from django.core import serializers
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from engine.cluster.errors import ConnectionFailure, SettingsError
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.credentials import remove_credentials, set_credentials
from scheduler_admin.clusters.connections.sealing import seal, unseal
from scheduler_admin.clusters.models import Cluster, Credentials
from scheduler_admin.clusters.watching.watchers import Watches
from simulator.kubeconfig import kubeconfig
from simulator.storage.store import Store
from tests.cluster.certificates import jwt
from tests.cluster.doubles import Answer, Asked, ManualClock, Simulated, scripted, simulate
from tests.cluster.test_credentials import grants, program
from tests.cluster.test_credentials import kubeconfig as kubeconfig_of

pytestmark = pytest.mark.django_db
SECRET = "hunter2-token"


@pytest.fixture
def api() -> Iterator[Simulated]:
    """Somebody's cluster."""
    with simulate() as simulated:
        simulated.add_node()
        yield simulated


@pytest.fixture
def cluster() -> Cluster:
    """It, as it stands in the database: nobody has said yet which it is."""
    return Cluster.objects.create(name="east", kubeconfig="/nowhere")


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What somebody pipes into a command."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def keep(cluster: Cluster, api: Simulated, token: str = SECRET) -> Credentials:
    return set_credentials(cluster=cluster, way=Way(text=kubeconfig(api.address, token)), actor=None, reason="rotated")


def test_what_is_kept_is_sealed(cluster: Cluster, api: Simulated) -> None:
    """No dump, representation, field or audit entry holds it; what may be told of it is there."""
    row = keep(cluster, api)
    assert (row.kind, row.address, row.context) == ("token", api.address, "simulator")
    way = Way.to(Cluster.objects.get())
    assert SECRET in way.text
    dumped = serializers.serialize(
        "json", [*Credentials.objects.all(), *AuditEvent.objects.all(), *Cluster.objects.all()]
    )
    assert SECRET not in dumped + repr(row) + repr(way) + repr(way.settings()) + repr(way.kubeconfig()) + str(vars(row))
    event = AuditEvent.objects.get(verb="cluster.credentials")
    assert (event.reason, event.details["kind"]) == ("rotated", "token")


def test_only_the_chosen_context_is_kept(cluster: Cluster, api: Simulated) -> None:
    """A pasted file may hold other clusters' secrets."""
    text = kubeconfig(api.address, SECRET)
    whole = text.replace('"users": [', '"users": [{"name": "other", "user": {"token": "others-secret"}},')
    assert "others-secret" in whole
    set_credentials(cluster=cluster, way=Way(text=whole), actor=None)
    assert "others-secret" not in Way.to(cluster).text


def test_when_a_token_ends_is_known(cluster: Cluster, api: Simulated) -> None:
    ends = datetime(2030, 1, 2, tzinfo=UTC)
    assert keep(cluster, api, jwt(ends)).expires_at == ends


def test_an_address_with_a_token_is_kept_too(cluster: Cluster, api: Simulated) -> None:
    row = set_credentials(cluster=cluster, way=Way.by_token(api.address, SECRET), actor=None)
    assert (row.kind, row.address, row.context) == ("token", api.address, "127.0.0.1")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (kubeconfig("http://127.0.0.1:9", SECRET), "cannot be reached"),
        (f"users: [{SECRET}", "is not valid YAML"),
        (kubeconfig_of("https://c", token=SECRET).replace('{"token"', '&a {"b": *a, "token"'), "is not a kubeconfig"),
        (kubeconfig_of("https://c", token=SECRET).replace('{"token"', '{? [b] : c, "token"'), "is not a kubeconfig"),
        (kubeconfig(f"https://u:{SECRET}@c", SECRET), "must not contain a username or password"),
        (kubeconfig_of("https://c", exec={"command": SECRET}), "contains exec. Only files on the server"),
    ],
)
def test_what_does_not_hold_is_refused_and_replaces_nothing(
    cluster: Cluster, api: Simulated, text: str, want: str
) -> None:
    """With a sentence that quotes nothing of it."""
    keep(cluster, api)
    before = Credentials.objects.get().sealed
    with pytest.raises(ValidationError, match=want) as caught:
        set_credentials(cluster=cluster, way=Way(text=text), actor=None)
    assert SECRET not in str(caught.value)
    assert Credentials.objects.get().sealed == before


def test_credentials_of_another_cluster_are_refused(cluster: Cluster, api: Simulated) -> None:
    """Else its history would go on with another cluster's pods."""
    keep(cluster, api)
    with simulate(Store(lambda: datetime.now(UTC), seed=2)) as other:
        with pytest.raises(ValidationError, match="belong to a different cluster, not to east"):
            keep(cluster, other)
        west = Cluster.objects.create(name="west")
        keep(west, other)
    with pytest.raises(ValidationError, match="belong to a different cluster, not to west"):
        keep(west, api)


def test_credentials_of_a_cluster_with_another_name_are_refused(cluster: Cluster, api: Simulated) -> None:
    keep(cluster, api)
    with pytest.raises(ValidationError, match="This is cluster east"):
        keep(Cluster.objects.create(name="west"), api)


def test_without_a_key_nothing_is_kept(cluster: Cluster, api: Simulated, settings: Any) -> None:
    settings.CREDENTIALS_KEYS = []
    with pytest.raises(ValidationError, match="Set CREDENTIALS_KEY for all processes"):
        keep(cluster, api)
    assert not Credentials.objects.exists()


def test_keys_are_changed_by_putting_a_new_one_in_front(cluster: Cluster, api: Simulated, settings: Any) -> None:
    """Both open; once everything is sealed anew the former may go. Without its key nothing is opened."""
    keep(cluster, api)
    old, new = settings.CREDENTIALS_KEYS[0], Fernet.generate_key().decode()
    settings.CREDENTIALS_KEYS = [new]
    with pytest.raises(SettingsError, match="No key in CREDENTIALS_KEY matches them"):
        Way.to(Cluster.objects.get())
    with pytest.raises(CommandError, match="No key in CREDENTIALS_KEY"):
        call_command("reseal_credentials")
    settings.CREDENTIALS_KEYS = [new, old]
    call_command("reseal_credentials", stdout=io.StringIO())
    settings.CREDENTIALS_KEYS = [new]
    assert SECRET in Way.to(Cluster.objects.get()).text


def test_what_travels_in_a_form_lasts_an_hour() -> None:
    sealed = seal(SECRET)
    assert unseal(sealed, within_s=3600) == SECRET
    with (
        time_machine.travel(datetime.now(UTC) + timedelta(seconds=3700)),
        pytest.raises(SettingsError, match="Enter the credentials again"),
    ):
        unseal(sealed, within_s=3600)


def test_removed_credentials_leave_the_kubeconfig(cluster: Cluster, api: Simulated) -> None:
    keep(cluster, api)
    assert remove_credentials(cluster=cluster, actor=None, reason="leaked")
    assert Way.to(Cluster.objects.get()).path == "/nowhere"
    assert AuditEvent.objects.get(verb="cluster.credentials.remove").reason == "leaked"
    assert not remove_credentials(cluster=cluster, actor=None)


# Commands


def test_a_kubeconfig_is_given_by_standard_input(
    cluster: Cluster, api: Simulated, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Or a token; never by an argument, which others on the machine could read."""
    said = io.StringIO()
    given(monkeypatch, kubeconfig(api.address, SECRET))
    call_command("set_credentials", "east", reason="new", stdout=said)
    given(monkeypatch, f"{SECRET}\n")
    call_command("set_credentials", "east", reason="new", address=api.address, stdout=said)
    call_command("set_credentials", "east", reason="leaked", remove=True, stdout=said)
    stored = f"east: credentials stored for {api.address} (token)"
    assert said.getvalue().splitlines() == [stored, stored, "east: The stored credentials were deleted."]


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({"name": "west"}, "Cluster west does not exist"),
        ({"address": "nowhere"}, "The cluster address must start with https://."),
        ({"address": "https://c", "ca": "/none"}, "No such file"),
        ({"context": "wrong"}, "has no context wrong. Its contexts are: simulator"),
    ],
)
def test_the_command_says_what_is_wrong(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], want: str
) -> None:
    given(monkeypatch, kubeconfig("http://127.0.0.1:9", SECRET))
    with pytest.raises(CommandError, match=want):
        call_command("set_credentials", options.pop("name", "east"), **options, reason="new")


def test_a_cluster_is_connected_by_what_is_piped_in(api: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, kubeconfig(api.address, SECRET))
    call_command("connect", stdin=True, name="mine", stdout=io.StringIO())
    cluster = Cluster.objects.get()
    assert (cluster.kubeconfig, cluster.context, cluster.credentials.address) == ("", "", api.address)
    assert SECRET in Way.to(cluster).text


@pytest.mark.parametrize(("command", "options"), [("connect", {"stdin": True}), ("set_credentials", {"reason": "new"})])
def test_when_nothing_is_piped_in_our_own_pod_is_not_meant(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, command: str, options: dict[str, Any]
) -> None:
    """As when the kubectl before the pipe fails."""
    given(monkeypatch, "\n")
    with pytest.raises(CommandError, match="The kubeconfig is empty"):
        call_command(command, *(["east"] if command == "set_credentials" else []), **options)


# In a worker


@pytest.fixture
def watches() -> Iterator[Watches]:
    found = Watches(ManualClock())
    yield found
    found.stop()


def test_a_watch_is_opened_anew_for_other_credentials(cluster: Cluster, api: Simulated, watches: Watches) -> None:
    """And only for them."""
    keep(cluster, api)
    first = watches.of(Cluster.objects.get())
    assert watches.of(Cluster.objects.get()) is first
    keep(cluster, api, "another")
    assert watches.of(Cluster.objects.get()) is not first


def test_a_watch_is_opened_anew_where_the_kubeconfig_has_come_to_lead(
    cluster: Cluster, api: Simulated, watches: Watches, tmp_path: Path
) -> None:
    path, rewritten = tmp_path / "config", threading.Event()
    cluster.kubeconfig = str(path)

    def script(asked: Asked, answer: Answer) -> None:
        if rewritten.is_set():
            answer.status(401, "Unauthorized", "no")
        else:
            answer.json(200, {"metadata": {"resourceVersion": "1"}, "items": []})

    with scripted(script) as former:
        path.write_text(kubeconfig(former.address, SECRET))
        first = watches.of(cluster)
        path.write_text(kubeconfig(api.address, SECRET))
        rewritten.set()
        with pytest.raises(ConnectionFailure, match="now point to another API server"):
            first.connection.request("GET", "/")
        assert watches.of(cluster).connection.address == api.address


def test_a_program_that_fails_is_not_run_at_every_pass(cluster: Cluster, watches: Watches, tmp_path: Path) -> None:
    """But every half a minute; another way is tried at once."""
    counted, clock = tmp_path / "runs", watches._clock
    assert isinstance(clock, ManualClock)
    path = tmp_path / "config"
    body = f"open({str(counted)!r}, 'a').write('x'); sys.exit(1)"
    path.write_text(kubeconfig_of("http://127.0.0.1:9", **program(tmp_path, body)))
    cluster.kubeconfig = str(path)
    for seconds, runs in ((0, 1), (29, 1), (2, 2)):
        clock.now_s += seconds
        with pytest.raises(SettingsError, match="failed with exit code 1"):
            watches.of(cluster)
        assert len(counted.read_text()) == runs
    program(tmp_path, grants(token="a"))
    cluster.context = "main"
    assert watches.of(cluster).connection.credentials.kind == "program"
