"""Evictions: from the server's answer to an outcome, and on a cluster."""

from types import SimpleNamespace

import pytest

from engine.cluster.acting.actuator import Actuator
from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.cluster.connecting.connection import Connection
from engine.formats.kubernetes.decode import decode_pod
from tests.cluster.doubles import Answer, scripted
from tests.controlplane.anycluster import AnyCluster, real
from tests.controlplane.plane import ControlPlane
from tests.waiting import PATIENCE_S, wait_for

VICTIM = SimpleNamespace(uid="u1", namespace="a", name="p1")
PATH = "/api/v1/namespaces/a/pods/p1"

BUDGET = {"causes": [{"reason": "DisruptionBudget", "message": "The disruption budget b needs 1 healthy pods"}]}
TWO = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

TABLE = {
    "200": (lambda answer: answer.json(200, {}), EvictionOutcome.ACCEPTED, False, None),
    "201": (lambda answer: answer.json(201, {}), EvictionOutcome.ACCEPTED, False, None),
    "404": (lambda answer: answer.status(404, "NotFound", "no pod"), EvictionOutcome.GONE, False, None),
    "422": (lambda answer: answer.status(422, "Invalid", "no"), EvictionOutcome.BLOCKED, False, None),
    "403": (lambda answer: answer.status(403, "Forbidden", "no right"), EvictionOutcome.REFUSED, False, None),
    "429 by a budget": (lambda answer: answer.status(429, "", "held", **BUDGET), EvictionOutcome.HELD, True, None),
    "429 by a budget, with time": (
        lambda answer: answer.status(429, "", "held", **BUDGET, headers={"Retry-After": "10"}),
        EvictionOutcome.HELD,
        True,
        10.0,
    ),
    "429 by load": (
        lambda answer: answer.status(429, "", "busy", headers={"Retry-After": "1"}),
        EvictionOutcome.HELD,
        False,
        1.0,
    ),
    "500 for two budgets": (
        lambda answer: answer.status(500, "InternalError", TWO),
        EvictionOutcome.BLOCKED,
        False,
        None,
    ),
    "500": (lambda answer: answer.status(500, "InternalError", "etcd"), EvictionOutcome.RETRY, False, None),
    "503": (
        lambda answer: answer.status(503, "", "later", headers={"Retry-After": "3"}),
        EvictionOutcome.RETRY,
        False,
        3.0,
    ),
    "504": (lambda answer: answer.status(504, "Timeout", "slow"), EvictionOutcome.RETRY, False, None),
    "timeout": (Answer.hang, EvictionOutcome.RETRY, False, None),
    "reset": (Answer.reset, EvictionOutcome.RETRY, False, None),
}


@pytest.mark.parametrize("case", TABLE)
def test_every_answer_has_an_outcome(case):
    """Whatever the server answers, or fails to, becomes an outcome with its next try; nothing is sent twice."""
    answers, outcome, budget, retry_after_s = TABLE[case]
    with scripted(lambda asked, answer: answers(answer)) as server:
        got = Actuator(server.connection(timeout_s=0.3 if case == "timeout" else PATIENCE_S)).evict(VICTIM)
    assert (got.outcome, got.budget, got.retry_after_s) == (outcome, budget, retry_after_s)
    assert bool(got.sentence) == (outcome is not EvictionOutcome.ACCEPTED)
    assert [asked.method for asked in server.asked] == ["POST"]


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        (lambda answer: answer.json(200, {"metadata": {"uid": "u2"}}), EvictionOutcome.GONE),
        (lambda answer: answer.status(404, "NotFound"), EvictionOutcome.GONE),
        (lambda answer: answer.json(200, {"metadata": {"uid": "u1"}}), EvictionOutcome.RETRY),
        (lambda answer: answer.reset(), EvictionOutcome.RETRY),
    ],
)
def test_a_conflict_means_gone_only_if_the_pod_is(pod, want):
    """409 is told apart by looking: another pod has the name, or somebody changed the same pod at that moment."""

    def script(asked, answer):
        return answer.status(409, "Conflict", "changed") if asked.method == "POST" else pod(answer)

    with scripted(script) as server:
        assert Actuator(server.connection()).evict(VICTIM).outcome is want


@pytest.mark.parametrize("dry_run", [False, True])
def test_only_the_eviction_subresource_with_the_uid_is_used(dry_run):
    """The request names this very pod and no grace period; a dry run is marked in the query and in the options."""
    with scripted(lambda asked, answer: answer.json(201, {})) as server:
        Actuator(server.connection()).evict(VICTIM, dry_run=dry_run)
    (asked,) = server.asked
    marks = {"dryRun": ["All"]} if dry_run else {}
    assert (asked.path, asked.query) == (f"{PATH}/eviction", {"dryRun": "All"} if dry_run else {})
    assert asked.body["apiVersion"] == "policy/v1"
    assert asked.body["deleteOptions"] == {"preconditions": {"uid": "u1"}, **marks}


def running(cluster: AnyCluster, name: str = "p1"):
    cluster.add_pod(name, node="n1")
    return decode_pod(cluster.running(name))


def test_a_pod_is_evicted_with_its_own_grace_period(cluster: AnyCluster, connection: Connection):
    """The pod is on its way out with the grace period that it asked for, and evicting it again is harmless."""
    cluster.add_node()
    pod = running(cluster)
    assert Actuator(connection).evict(pod) == EvictionResult(outcome=EvictionOutcome.ACCEPTED)
    left = cluster.get("pods", "p1")["metadata"]
    assert left["deletionTimestamp"]
    assert left["deletionGracePeriodSeconds"] == 30
    assert Actuator(connection).evict(pod).outcome is EvictionOutcome.ACCEPTED


def test_a_dry_run_changes_nothing(cluster: AnyCluster, connection: Connection):
    """The server judges, and the pod stays."""
    pod = running(cluster)
    assert Actuator(connection).evict(pod, dry_run=True).outcome is EvictionOutcome.ACCEPTED
    assert "deletionTimestamp" not in cluster.get("pods", "p1")["metadata"]


def test_a_pod_that_took_the_name_is_untouched(cluster: AnyCluster, connection: Connection):
    """A pod recreated under the same name between decision and eviction is not evicted: the outcome is gone."""
    pod = running(cluster)
    cluster.delete("pods", "p1", gracePeriodSeconds=0)
    newcomer = running(cluster)
    assert newcomer.uid != pod.uid
    assert Actuator(connection).evict(pod).outcome is EvictionOutcome.GONE
    assert "deletionTimestamp" not in cluster.get("pods", "p1")["metadata"]


def budget(cluster: AnyCluster, name: str, *, needs: int) -> None:
    """A budget over the one pod there is, as soon as its controller has counted that."""
    spec = {"minAvailable": needs, "selector": {"matchLabels": {"app": "p1"}}}
    cluster.create("poddisruptionbudgets.policy", {"metadata": {"name": name}, "spec": spec})

    def counted() -> bool:
        status = cluster.get("poddisruptionbudgets.policy", name)["status"]
        return status.get("currentHealthy") == 1 and status["disruptionsAllowed"] == 1 - needs

    wait_for(counted, "the budget is counted")


def test_a_budget_holds_an_eviction_back(cluster: AnyCluster, connection: Connection):
    """A disruption budget that allows none holds the eviction, in a dry run as well."""
    pod = running(cluster)
    budget(cluster, "b", needs=1)
    for dry_run in (True, False):
        got = Actuator(connection).evict(pod, dry_run=dry_run)
        assert (got.outcome, got.budget) == (EvictionOutcome.HELD, True)
    assert "deletionTimestamp" not in cluster.get("pods", "p1")["metadata"]


def test_two_budgets_block_an_eviction(cluster: AnyCluster, connection: Connection):
    """Two budgets over one pod are a matter for people: blocked, not retried."""
    pod = running(cluster)
    budget(cluster, "b", needs=0)
    budget(cluster, "c", needs=0)
    assert Actuator(connection).evict(pod).outcome is EvictionOutcome.BLOCKED


@pytest.mark.controlplane
def test_an_account_that_may_not_evict_is_refused(plane: ControlPlane):
    """Refused and told, and the pod stays."""
    with real(plane) as cluster:
        pod = running(cluster)
        reader = cluster.account({"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]})
        got = Actuator(Connection(reader)).evict(pod)
        assert got.outcome is EvictionOutcome.REFUSED
        assert "pods/eviction" in got.sentence
        assert "deletionTimestamp" not in cluster.get("pods", "p1")["metadata"]


@pytest.mark.parametrize(
    ("pod", "want", "sent"),
    [
        (lambda answer: answer.json(200, {"metadata": {"uid": "u1", "deletionTimestamp": "now"}}), "accepted", False),
        (lambda answer: answer.json(200, {"metadata": {"uid": "u2"}}), "pod-gone", False),
        (lambda answer: answer.status(404, "NotFound"), "pod-gone", False),
        (lambda answer: answer.status(503, ""), "retry", False),
        (lambda answer: answer.reset(), "retry", False),
        (lambda answer: answer.json(200, {"metadata": {"uid": "u1"}}), "accepted", True),
    ],
)
def test_where_a_request_may_have_been_sent_before_the_pod_is_looked_at_first(pod, want, sent):
    """The answer was lost, not the eviction perhaps: a pod that is on its way is not evicted a second time."""

    def script(asked, answer):
        return answer.json(201, {}) if asked.method == "POST" else pod(answer)

    with scripted(script) as server:
        got = Actuator(server.connection()).evict(VICTIM, again=True)
    assert got.outcome == want
    assert ("POST" in [asked.method for asked in server.asked]) is sent


def test_looking_and_evicting_take_no_longer_together_than_one_request(monkeypatch):
    """Our lease is only known to outlast one: the two share its time."""
    given = []

    def script(asked, answer):
        return answer.json(201, {"metadata": {"uid": "u1"}})

    with scripted(script) as server:
        connection = server.connection(timeout_s=4)
        send = connection.request

        def request(*arguments, timeout_s=None, **options):
            given.append(timeout_s)
            return send(*arguments, timeout_s=timeout_s, **options)

        monkeypatch.setattr(connection, "request", request)
        assert Actuator(connection).evict(VICTIM, again=True).outcome is EvictionOutcome.ACCEPTED
        assert (len(given), sum(given)) == (2, connection.timeout_s)
