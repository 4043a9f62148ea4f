"""Connecting a cluster from its page: what is there is shown first, then it is added, and only by admins."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.queues.models import Hierarchy
from simulator.kubeconfig import kubeconfig
from tests.cluster.doubles import Simulated, simulate
from tests.cluster.offering import offer, running
from tests.pages import rows

pytestmark = pytest.mark.django_db
PAGE = "/clusters/connect/"
SECRET = "hunter2-token"


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    with simulate() as simulated:
        simulated.add_node()
        simulated.add_pod("web", node="n1")
        yield simulated


@pytest.fixture
def config(theirs: Simulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> str:
    """A kubeconfig with a token in it; kubectl's own, and offered."""
    path = tmp_path / "config"
    path.write_text(kubeconfig(theirs.address, SECRET))
    monkeypatch.setenv("KUBECONFIG", str(path))
    offer(tmp_path, monkeypatch, settings)
    return str(path)


def text(answer: Any) -> str:
    assert answer.status_code == 200
    html: str = answer.content.decode()
    assert SECRET not in html
    return html


def test_the_contexts_of_the_default_kubeconfig_are_offered(ada: Client, config: str) -> None:
    """Nothing is asked of the cluster for that."""
    html = text(ada.get(PAGE))
    assert config in html
    assert '<option value="simulator" selected>simulator</option>' in html
    assert PAGE in text(ada.get("/clusters/"))


def test_a_look_says_what_is_there_and_adds_nothing(ada: Client, config: str, theirs: Simulated) -> None:
    """Nodes, pods, schedulers, queues, and what would happen."""
    html = text(ada.post(PAGE, {"kubeconfig": config, "context": "simulator", "act": "look"}))
    for shown in ("cpu 4", "<dt>Running pods</dt><dd>1</dd>", "kube-scheduler", "1 pod uses it", "root.default",
                  "one per namespace", "will be added in Observe mode", "Connect simulator"):  # fmt: skip
        assert shown in html
    assert not Cluster.objects.exists()
    assert not Hierarchy.objects.exists()
    assert {record.verb for record in theirs.audit} <= {"get", "list", "watch"}


def test_connecting_adds_it_in_observe_and_leads_to_its_queues(ada: Client, config: str, theirs: Simulated) -> None:
    """With its tree; who did it is in the audit log."""
    answer = ada.post(PAGE, {"kubeconfig": config, "context": "simulator", "act": "connect"}, follow=True)
    assert answer.redirect_chain == [("/clusters/simulator/queues/", 302)]
    assert "nothing is written to the cluster" in text(answer)
    assert Cluster.objects.get().mode == "observe"
    assert AuditEvent.objects.get(verb="cluster.add").actor_name == "ada"
    assert {record.verb for record in theirs.audit} <= {"get", "list", "watch"}


def test_a_known_cluster_is_told_and_left_as_it_is(ada: Client, config: str) -> None:
    ada.post(PAGE, {"kubeconfig": config, "act": "connect"})
    Cluster.objects.update(mode="advise")
    assert "is already connected, in Advise mode" in text(ada.post(PAGE, {"kubeconfig": config, "act": "look"}))
    answer = ada.post(PAGE, {"kubeconfig": config, "act": "connect"}, follow=True)
    assert "was already connected and is unchanged" in text(answer)
    assert Cluster.objects.get().mode == "advise"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"context": "prod"}, "has no context prod. Its contexts are: simulator."),
        (
            {"kubeconfig": "/nowhere/config"},
            "/nowhere/config is not one of the kubeconfigs that this installation offers",
        ),
        ({"name": "no name!"}, "Enter a valid"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(
    ada: Client, config: str, given: dict[str, str], want: str
) -> None:
    """The form comes back with what was typed."""
    html = text(ada.post(PAGE, {"kubeconfig": config, "act": "connect", **given}))
    assert want.lower() in html.lower()
    assert 'aria-invalid="true"' in html
    for value in given.values():
        assert value in html
    assert not Cluster.objects.exists()


@pytest.mark.parametrize("act", ["look", "connect"])
def test_a_cluster_that_does_not_answer_is_said_below_the_button(ada: Client, config: str, act: str) -> None:
    """With what was chosen still there, and the focus on the sentence, so that it is seen and read out."""
    Path(config).write_text(kubeconfig("http://127.0.0.1:9", SECRET))
    html = text(ada.post(PAGE, {"kubeconfig": config, "context": "simulator", "name": "mine", "act": act}))
    section = html.partition('aria-labelledby="h-which"')[2].partition("</section>")[0]
    after = section.partition('value="look"')[2]
    assert re.search(r'role="alert" tabindex="-1" autofocus>[^<]*127\.0\.0\.1:9', after)
    assert ('<option value="simulator" selected>' in section, 'value="mine"' in section) == (True, True)
    assert html.count('tabindex="-1" autofocus') == 1


def test_contexts_stand_below_the_button_that_lists_them(ada: Client, config: str) -> None:
    """Those of a file above the field for pasting; what is listed at first takes no focus, what was asked for does."""
    first, asked = text(ada.get(PAGE)), text(ada.get(PAGE, {"kubeconfig": config}))
    pasted = text(ada.post(PAGE, {"act": "list", "text": Path(config).read_text()}))
    for html in (first, asked):
        assert html.index("List contexts") < html.index('id="h-which"') < html.index('id="h-paste"')
    assert pasted.index('id="h-paste"') < pasted.index('id="h-which"')
    focused = ['id="h-which" tabindex="-1" autofocus' in html for html in (first, asked, pasted)]
    assert focused == [False, True, True]


def test_a_file_that_can_not_be_used_is_not_quoted(ada: Client, config: str) -> None:
    path = Path(config).with_name("broken")
    path.write_text(f"contexts, clusters: [{SECRET}")
    assert "is not valid YAML" in text(ada.get(PAGE, {"kubeconfig": str(path)}))


@pytest.mark.parametrize("act", ["", "list", "look", "connect"])
def test_no_file_is_read_but_those_that_are_offered(ada: Client, config: str, tmp_path: Path, act: str) -> None:
    """Neither by an address nor by a form: an upload that hangs is an open file of ours, and its program would run."""
    marker, upload = tmp_path / "it ran", tmp_path / "upload"
    upload.write_text(running("/usr/bin/touch", str(marker)))
    with upload.open() as file:
        asked = {"kubeconfig": f"/proc/self/fd/{file.fileno()}", "context": "c", "act": act}
        html = text(ada.post(PAGE, asked) if act else ada.get(PAGE, asked))
    assert "is not one of the kubeconfigs that this installation offers" in html
    assert not marker.exists()
    assert not Cluster.objects.exists()


def test_where_none_is_offered_the_page_says_where_it_looks(ada: Client, settings: Any) -> None:
    """And one can be pasted still."""
    settings.KUBECONFIG_PLACES = "/nowhere/a:/nowhere/b"
    assert "This installation offers only files in /nowhere/a, /nowhere/b" in text(ada.get(PAGE))


def test_whoever_has_a_program_run_stands_in_the_audit_log(ada: Client, config: str) -> None:
    """Also who only looks; and who checks the connection later."""
    Path(config).write_text(running("/usr/bin/true"))
    ada.post(PAGE, {"kubeconfig": config, "context": "c", "act": "look"})
    assert AuditEvent.objects.get(verb="program.run").details["kubeconfig"] == config
    rows.cluster("east", kubeconfig=config, context="c")
    ada.post("/clusters/east/connection/", {"act": "check"})
    assert set(AuditEvent.objects.filter(verb="program.run").values_list("target", flat=True)) == {"c", "east"}


def test_only_admins_connect(otto: Client, audrey: Client, tess: Client, config: str) -> None:
    """Whoever names a file on the server is trusted with the server: nobody else sees the button, or the page."""
    for client, code in ((otto, 403), (audrey, 403), (tess, 404)):
        assert client.get(PAGE).status_code == code
        assert client.post(PAGE, {"kubeconfig": config, "act": "connect"}).status_code == code
    assert PAGE not in text(otto.get("/clusters/"))
    assert not Cluster.objects.exists()


def test_what_passes_do_without_is_told_on_the_page_of_clusters(ada: Client) -> None:
    """Why, and what follows; nothing of a kind that a later version knew."""
    missing = {"PersistentVolume": "it is forbidden", "Event": "events is forbidden", "Later": "no"}
    seen = {"missing": missing, "read_at": rows.EPOCH, "pass_at": rows.EPOCH}
    ClusterStatus.objects.create(cluster=rows.cluster(), **seen)
    html = text(ada.get("/clusters/"))
    assert "Event objects can’t be read (events is forbidden): the preemptor is unknown" in html
    assert (
        "PersistentVolume objects can’t be read (it is forbidden): "
        "pending pods with PersistentVolumeClaims are skipped." in html
    )
    assert "Later" not in html
