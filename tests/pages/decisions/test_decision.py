"""The page of one decision: the sentence, the numbers it rests on, what really happened."""

from datetime import timedelta

import pytest
from django.utils import timezone

from engine.explain import Tense, hold_message
from engine.model.decision import Interlock
from scheduler_admin.accounts.models import User
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.sentences import outcome, step, tense_of
from tests.pages import moments, rows

pytestmark = pytest.mark.django_db
WORKER = "vision-train-0042-worker-3"


@pytest.fixture
def cluster():
    """A cluster with a status, under the tree of the moments."""
    made = rows.cluster("demo")
    rows.status(made)
    return made


@pytest.fixture
def reader(client):
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    return client


def read(reader, row) -> str:
    """The page's text, tags left in."""
    response = reader.get(f"/clusters/demo/decisions/{row.pk}/")
    assert response.status_code == 200
    return response.content.decode()


def why(reader, row):
    """What the page was made of."""
    return reader.get(f"/clusters/demo/decisions/{row.pk}/").context["why"]


def test_a_decision_that_was_carried_out(cluster, reader):
    """The one sentence, both queues, every victim, all laws, every step."""
    (row,) = moments.decide(cluster, only=WORKER)
    shown = why(reader, moments.carried_out(row))
    assert text(shown.sentence) == (
        f"{WORKER} needed 2 nvidia.com/gpu on one node while training was 2 nvidia.com/gpu below its guarantee, "
        "so 2 pods of queue-b, which was 4 nvidia.com/gpu above its own, were evicted from gpu-04."
    )
    assert [(side.name, side.side) for side in shown.sides] == [("training", "asked"), ("queue-b", "gave")]
    assert [lane.resource for lane in shown.sides[0].lanes] == ["cpu", "memory", "nvidia.com/gpu"]
    assert [text(message) for line in shown.victims for message in line.allowed] == [
        "queue-b uses 6 nvidia.com/gpu with a guarantee of 2, and 5 without it",
        "queue-b uses 5 nvidia.com/gpu with a guarantee of 2, and 4 without it",
    ]
    assert {each.name for each in shown.reprieved} == {"embed-batch-7f9c-kx2lp", "rank-batch-31d0-driver"}
    assert [each.name for each in shown.excluded] == ["notebook-anna-0"]
    assert (shown.holding, len(shown.laws)) == (15, 15)
    assert [line.offset for line in shown.steps][:2] == ["−30.0 s", "0 s"]
    assert shown.steps[-1].offset == "+38.1 s"
    assert (shown.kind, shown.word) == ("ok", "bound")


def test_the_page_holds_all_of_it(cluster, reader):
    """The template shows what the numbers say, with names in a fixed-width type and no style attribute."""
    (row,) = moments.decide(cluster, only=WORKER)
    page = read(reader, moments.carried_out(row))
    for part in (
        f"<code>{WORKER}</code> needed 2 nvidia.com/gpu",
        "queue-b nvidia.com/gpu 6 − 1 − 1 = 4 ≥ 2",
        "taint <code>maintenance:NoSchedule</code>",
        "What would have prevented this eviction",
        "would be spared if the guarantee of queue-b were above 4 nvidia.com/gpu. It is 2 nvidia.com/gpu now.",
        "Kubernetes did not accept the eviction of",
        "25.5 s after its eviction",
    ):
        assert part in page
    assert "style=" not in page


def test_a_refused_decision_says_which_law(cluster, reader):
    """With the arithmetic that fails, and nothing that would have prevented what did not happen."""
    shown = why(reader, moments.refused(cluster))
    assert "Rejected: a queue would drop below its guarantee." in [text(each) for each in shown.because]
    broken = [line for line in shown.laws if not line.holds]
    assert any("≱" in text(line) for each in broken for line in each.lines)
    assert shown.prevention == ()
    assert text(shown.sentence).endswith("would have been evicted from gpu-05.")
    assert "stopped" not in read(reader, shown.row)


@pytest.mark.parametrize("ending", ["blocked", "pod-gone", "superseded"])
def test_that_it_was_stopped_follows_the_sentence(cluster, reader, ending):
    """Where nothing beside it says so already."""
    (row,) = moments.decide(cluster, only=WORKER)
    Decision.objects.filter(pk=row.pk).update(state="closed", ending=ending)
    row.victims.update(state="spared")
    shown = why(reader, row)
    assert text(shown.sentence).endswith("would have been evicted from gpu-04.")
    assert [text(each) for each in shown.because] == ["The decision was stopped."]


def test_nothing_is_stopped_where_nobody_was_to_go(cluster, reader):
    """Such as of a decision that took only what was on its way out."""
    (row,) = moments.decide(cluster, only=WORKER)
    Decision.objects.filter(pk=row.pk).update(state="closed", ending="bound")
    row.victims.all().delete()
    assert why(reader, row).because == []


def test_a_decision_that_is_held_back_says_by_what(cluster, reader):
    """The verb stays true: nothing was evicted."""
    (row,) = moments.decide(cluster, only=WORKER, hold="paused")
    shown = why(reader, row)
    assert text(shown.sentence).endswith("would be evicted from gpu-04.")
    assert [text(each) for each in shown.because] == ["On hold: the cluster is paused."]
    assert "What would prevent this eviction" in read(reader, row)


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        ("embed-batch-7f9c-late", "queue-b uses 26500m cpu, and its guarantee is 12."),
        ("bidder-replay-77c-0", "none of the 18 pods outside its queue is eligible"),
        ("vision-eval-1", "The preemption delay of its queue is not over"),
    ],
)
def test_without_preemption_the_page_says_why_not(cluster, reader, only, sentence):
    """With the numbers that stand in the way."""
    (row,) = moments.decide(cluster, only=only)
    shown = why(reader, row)
    assert text(shown.sentence) == f"{only} found no room, and no pod was evicted for it."
    assert sentence in text(shown.because[0])
    assert read(reader, row)


def test_a_document_that_is_not_known_here_still_has_a_page(cluster, reader):
    """Rows that other versions wrote are shown as far as their columns go."""
    row = rows.decision(cluster, "root.tenant-1.training", victims=("root.tenant-1.queue-b",))
    Decision.objects.filter(pk=row.pk).update(laws=[{"law": "of-tomorrow"}])
    assert row.ask_name in read(reader, row)


@pytest.mark.parametrize(
    ("state", "ending", "victims", "tense"),
    [
        ("recorded", "", ["chosen"], Tense.WOULD),
        ("recorded", "", ["exited"], Tense.EVICTED),
        ("on-hold", "", ["chosen"], Tense.WOULD),
        ("on-hold", "", ["exited"], Tense.WOULD),
        ("planned", "", ["chosen"], Tense.EVICTING),
        ("evicting", "", ["evicted", "on-hold"], Tense.EVICTING),
        ("waiting", "", ["evicted", "exited"], Tense.EVICTED),
        ("closed", "bound", ["exited"], Tense.EVICTED),
        ("closed", "pod-gone", ["spared"], Tense.STOPPED),
        ("closed", "rejected", ["chosen"], Tense.STOPPED),
        ("closed", "blocked", ["evicted", "spared"], Tense.EVICTED),
    ],
)
def test_the_tense_follows_what_became_of_the_victims(state, ending, victims, tense):
    """Only what really went is called evicted."""
    row = Decision(state=state, ending=ending, outcome="preempt")
    assert tense_of(row, [Victim(state=each) for each in victims]) is tense


@pytest.mark.parametrize("ending", Decision.Ending.values)
def test_every_ending_has_a_word_and_a_step(ending):
    """With a shape, so that colour alone never says it."""
    row = Decision(state="closed", ending=ending, outcome="preempt", node="n1")
    kind, word = outcome(row, [])
    assert kind in ("ok", "warn", "none", "stop")
    assert word
    assert "%" not in text(step(Step(kind="closed", note="why"), row, []))


@pytest.mark.parametrize(
    ("ending", "deadline", "note", "said"),
    [
        ("timed-out", timezone.now(), "", "Some victims had not exited by the deadline."),
        ("timed-out", timezone.now(), "mode observe", "The cluster is no longer in Enforce mode."),
        ("timed-out", None, "", "The evictions could not be started in time."),
        ("superseded", None, "", "The evictions could not be started in time."),
    ],
)
def test_what_expired_says_why(ending, deadline, note, said):
    """Nobody is told of a deadline that was never reached."""
    row = Decision(state="closed", ending=ending, outcome="preempt", source="engine", node="n1", deadline=deadline)
    assert text(step(Step(kind="closed", note=note), row, [])) == f"{said} Decision closed."


@pytest.mark.parametrize("kind", Step.Kind.values)
def test_every_step_has_a_sentence(kind):
    """Whatever the carrier stores."""
    row = Decision(state="evicting", outcome="preempt", node="n1")
    said = text(step(Step(kind=kind, pod="ns/p", note="paused", at=timezone.now()), row, []))
    assert said.endswith((".", "paused"))


@pytest.mark.parametrize("hold", Interlock)
def test_every_interlock_is_explained(hold):
    """The engine's sentences know each limit that may hold a decision back."""
    assert text(hold_message(hold.value)).startswith("On hold: ")


def test_only_those_who_see_everything_read_it(cluster, client):
    """A decision names pods of others, so that a tenant is led to the page of their own pod in it."""
    (row,) = moments.decide(cluster, only=WORKER)
    url = f"/clusters/demo/decisions/{row.pk}/"
    assert client.get(url).url == f"/sign-in/?next={url}"
    victim = row.victims.get(position=0)
    for person, pod in (("search", f"search/{victim.name}"), ("vision", f"vision/{WORKER}")):
        client.force_login(rows.tenant_user(person, namespaces=(person,)))
        response = client.get(url, follow=True)
        assert response.redirect_chain == [(f"/pods/demo/{pod}/?decision={row.pk}", 302)]
        assert response.status_code == 200
    client.force_login(rows.tenant_user("carl", namespaces=("elsewhere",)))
    assert client.get(url).status_code == 404


def test_a_decision_of_another_cluster_is_not_found(cluster, reader):
    """Even for those who may see both."""
    (row,) = moments.decide(cluster, only=WORKER)
    rows.cluster("other")
    assert reader.get(f"/clusters/other/decisions/{row.pk}/").status_code == 404


def test_names_can_not_carry_markup(cluster, reader):
    """What others named is text, in the sentence too."""
    (row,) = moments.decide(cluster, only=WORKER)
    document = row.document.replace(WORKER, "<b>x</b>%(node)s")
    Decision.objects.filter(pk=row.pk).update(document=document)
    page = read(reader, row)
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;%(node)s" in page


def test_the_work_that_was_thrown_away_is_told_of_all_victims_together(cluster, reader):
    """Once they are evicted, and as long as all of it is known."""
    (row,) = moments.decide(cluster, only=WORKER)
    assert why(reader, row).lost == ""
    row = moments.carried_out(row)
    at = row.victims.first().evicted_at
    row.victims.update(started_at=at - timedelta(hours=2), evicted_at=at, requests=rows.amounts(("2", "1Gi")))
    shown = why(reader, row)
    assert shown.lost == "8.0 core-hours, 4.0 GiB-hours of memory"
    assert "Total lost work: 8.0 core-hours, 4.0 GiB-hours of memory." in read(reader, row)
    row.victims.filter(position=1).update(started_at=None)
    assert why(reader, row).lost == ""


def test_applications_that_were_hit_again_and_again_are_named(cluster, reader):
    """Each once, the most often hit first."""
    (row,) = moments.decide(cluster, only=WORKER)
    row = moments.carried_out(row)
    row.victims.update(application="etl", preempted_in_day=4)
    said = [text(message) for message in why(reader, row).because]
    assert said == ["etl was preempted 4 times in the 24 hours before."]
    row.victims.filter(position=1).update(application="web", preempted_in_day=5)
    said = [text(message) for message in why(reader, row).because]
    assert [sentence.split()[0] for sentence in said] == ["web", "etl"]
