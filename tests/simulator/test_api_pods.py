"""What is special about pods: binding, eviction, priority, quota, and what may change."""

from typing import Any

import pytest
from kubernetes import client
from simulated_api import Running, body, pod

from tests.controlplane.anycluster import AnyCluster
from tests.waiting import wait_for


@pytest.fixture
def running_pod(core: client.CoreV1Api, cluster: AnyCluster) -> client.V1Pod:
    """Return a running pod called a."""
    core.create_namespaced_pod(cluster.namespace, pod("a", nodeName="n1"))
    cluster.running("a")
    return core.read_namespaced_pod("a", cluster.namespace)


BUDGETS = "poddisruptionbudgets.policy"


def set_budget(cluster: AnyCluster, needs: int, name: str = "b", of: int = 1, unready: int = 0, **spec: Any) -> None:
    """A disruption budget for the pods of these tests, as soon as its controller has counted them as they are."""
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": needs, **spec}
    cluster.create(BUDGETS, {"metadata": {"name": name}, "spec": spec})
    counted = {"expectedPods": of, "currentHealthy": of - unready}
    wait_for(lambda: counted.items() <= cluster.get(BUDGETS, name)["status"].items(), "the budget is counted")


def state(cluster: AnyCluster) -> list[dict[str, Any]]:
    """All that an eviction might change."""
    return [*cluster.list("pods"), *cluster.list(BUDGETS)]


def evict(core: client.CoreV1Api, cluster: AnyCluster, name: str = "a", **options: Any) -> Any:
    """Evict a pod."""
    place = {"name": name, "namespace": cluster.namespace}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": place, "deleteOptions": options}
    return core.create_namespaced_pod_eviction(name, cluster.namespace, eviction)


def test_eviction_deletes_gracefully_and_says_why(
    core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod
) -> None:
    """An evicted pod gets its grace period and the condition DisruptionTarget."""
    evict(core, cluster, gracePeriodSeconds=5)
    found = core.read_namespaced_pod("a", cluster.namespace)
    assert found.metadata.deletion_grace_period_seconds == 5
    condition = next(item for item in found.status.conditions if item.type == "DisruptionTarget")
    assert (condition.status, condition.reason, condition.message) == (
        "True",
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
    )


def test_budget_refuses_an_eviction(core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod) -> None:
    """An eviction that a budget does not allow answers 429 with the budget's figures and changes nothing."""
    set_budget(cluster, needs=1)
    before = state(cluster)
    with pytest.raises(client.ApiException) as refused:
        evict(core, cluster)
    found = body(refused.value)
    assert (found["code"], found["reason"]) == (429, "TooManyRequests")
    assert found["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert found["details"]["causes"] == [
        {"reason": "DisruptionBudget", "message": "The disruption budget b needs 1 healthy pods and has 1 currently"}
    ]
    assert state(cluster) == before


def test_budget_is_charged(core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod) -> None:
    """An allowed eviction takes one disruption from the budget: the next one is refused."""
    core.create_namespaced_pod(cluster.namespace, pod("other", nodeName="n1"))
    cluster.running("other")
    set_budget(cluster, needs=1, of=2)
    evict(core, cluster)
    assert cluster.get(BUDGETS, "b")["status"]["disruptionsAllowed"] == 0
    assert core.read_namespaced_pod("a", cluster.namespace).metadata.deletion_timestamp
    with pytest.raises(client.ApiException, match="429"):
        evict(core, cluster, "other")


def test_uncounted_budget_asks_to_wait(server: Running) -> None:
    """A budget that its controller has not seen yet refuses with a time to wait; a real one sees it at once."""
    core = client.CoreV1Api(server.api())
    core.create_namespaced_pod("default", pod("a", nodeName="n1"))
    core.patch_namespaced_pod_status("a", "default", {"status": {"phase": "Running"}})
    manifest = {"metadata": {"name": "b"}, "spec": {"selector": {}}}
    client.PolicyV1Api(server.api()).create_namespaced_pod_disruption_budget("default", manifest)
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod_eviction("a", "default", {"metadata": {"name": "a"}})
    assert refused.value.headers["Retry-After"] == "10"
    assert body(refused.value)["details"]["retryAfterSeconds"] == 10


def test_two_budgets_are_an_error(core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod) -> None:
    """A pod with two budgets can't be evicted: the server says that it does not support that."""
    for name in ("b", "second"):
        set_budget(cluster, needs=0, name=name)
    with pytest.raises(client.ApiException) as refused:
        evict(core, cluster)
    assert refused.value.status == 500
    assert "more than one PodDisruptionBudget" in body(refused.value)["message"]


@pytest.mark.parametrize(("policy", "code"), [("IfHealthyBudget", 429), ("AlwaysAllow", None)])
def test_unhealthy_pods_leave_as_the_budget_says(
    core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod, policy: str, code: int | None
) -> None:
    """A pod that is not ready may always go under AlwaysAllow, and only from a healthy budget otherwise."""
    unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    core.patch_namespaced_pod_status("a", cluster.namespace, unready)
    set_budget(cluster, needs=1, unready=1, unhealthyPodEvictionPolicy=policy)
    try:
        evict(core, cluster)
        found = None
    except client.ApiException as error:
        found = error.status
    assert found == code


def test_dry_run_eviction_asks_the_budget_and_changes_nothing(
    core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod
) -> None:
    """A dry-run eviction is refused or allowed as a real one, and writes nothing either way."""
    set_budget(cluster, needs=0)
    before = state(cluster)
    evict(core, cluster, dryRun=["All"])
    assert state(cluster) == before
    cluster.change(BUDGETS, "b", lambda copy: copy["spec"].update(minAvailable=1))
    wait_for(lambda: cluster.get(BUDGETS, "b")["status"]["disruptionsAllowed"] == 0, "the budget is counted anew")
    with pytest.raises(client.ApiException, match="429"):
        evict(core, cluster, dryRun=["All"])


def test_eviction_means_one_pod_only(core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod) -> None:
    """An eviction with another pod's UID answers 409 and touches no pod; with the right one it passes."""
    before = state(cluster)
    with pytest.raises(client.ApiException) as refused:
        evict(core, cluster, preconditions={"uid": "another"})
    assert (refused.value.status, body(refused.value)["reason"]) == (409, "Conflict")
    assert state(cluster) == before
    evict(core, cluster, preconditions={"uid": running_pod.metadata.uid})
    assert core.read_namespaced_pod("a", cluster.namespace).metadata.deletion_timestamp


def test_eviction_of_another_pod_is_charged_all_the_same(
    core: client.CoreV1Api, cluster: AnyCluster, running_pod: client.V1Pod
) -> None:
    """The API server asks the budget before it looks whether it is the pod that is meant."""
    core.create_namespaced_pod(cluster.namespace, pod("other", nodeName="n1"))
    cluster.running("other")
    set_budget(cluster, needs=1, of=2)
    with pytest.raises(client.ApiException, match="409"):
        evict(core, cluster, preconditions={"uid": "another"})
    assert cluster.get(BUDGETS, "b")["status"]["disruptionsAllowed"] == 0
    assert "deletionTimestamp" not in cluster.get("pods", "a")["metadata"]


def test_binding_assigns_once(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Binding puts a pod on a node and says so in its conditions; a second binding answers 409."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    cluster.bind("a", "n1")
    found = core.read_namespaced_pod("a", cluster.namespace)
    assert found.spec.node_name == "n1"
    assert [(item.type, item.status) for item in found.status.conditions] == [("PodScheduled", "True")]
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod_binding(
            "a", cluster.namespace, {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n2"}}
        )
    assert body(refused.value)["message"] == (
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
    )


def priority_of(core: client.CoreV1Api, cluster: AnyCluster, **spec: Any) -> int | None:
    """The value that a pod would get now; None where it would be refused."""
    try:
        return core.create_namespaced_pod(cluster.namespace, pod("tried", **spec), dry_run="All").spec.priority
    except client.ApiException:
        return None


def test_priority_comes_from_the_class(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod gets the value and the preemption policy of its class, and of the default class when it names none."""
    scheduling = client.SchedulingV1Api(cluster.api())
    scheduling.create_priority_class({"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    wait_for(
        lambda: priority_of(core, cluster, priorityClassName="high") == 1000, "the class is known where pods come in"
    )
    named = core.create_namespaced_pod(cluster.namespace, pod("a", priorityClassName="high")).spec
    assert (named.priority, named.preemption_policy) == (1000, "Never")
    assert core.create_namespaced_pod(cluster.namespace, pod("b")).spec.priority == 0
    scheduling.create_priority_class({"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    wait_for(lambda: priority_of(core, cluster) == 7, "the default is known where pods come in")
    unnamed = core.create_namespaced_pod(cluster.namespace, pod("c")).spec
    assert (unnamed.priority, unnamed.priority_class_name) == (7, "usual")
    system = core.create_namespaced_pod("kube-system", pod("d", priorityClassName="system-node-critical")).spec
    assert system.priority == 2_000_001_000


def test_unknown_priority_class_is_forbidden(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod of a class that does not exist is refused in the words of the priority admission."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod(cluster.namespace, pod("a", priorityClassName="none"))
    assert body(refused.value)["message"] == 'pods "a" is forbidden: no PriorityClass with name none was found'


def test_priority_can_not_be_made_up(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod can't bring a priority that its class does not have."""
    with pytest.raises(client.ApiException, match="must not be provided in pod spec"):
        core.create_namespaced_pod(cluster.namespace, pod("a", priority=99))


def test_bad_quantity_is_refused(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A request that is no quantity answers 400."""
    manifest = pod("a")
    manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "much"
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod(cluster.namespace, manifest)
    assert refused.value.status == 400
    assert cluster.find("pods", "a") is None


def test_pod_is_defaulted(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod gets the defaults that schedulers and kubelets rely on."""
    found = core.create_namespaced_pod(cluster.namespace, pod("a", schedulerName=None))
    assert (found.spec.restart_policy, found.spec.scheduler_name) == ("Always", "default-scheduler")
    assert found.spec.termination_grace_period_seconds == 30
    assert (found.status.phase, found.status.qos_class) == ("Pending", "Burstable")
    assert [(item.key, item.effect, item.toleration_seconds) for item in found.spec.tolerations] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 300),
    ]


def test_pod_keeps_its_specification(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Only the image and few other fields of a pod may change; anything else answers 422."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    image = {"spec": {"containers": [{"name": "main", "image": "registry.example/app:2"}]}}
    assert core.patch_namespaced_pod("a", cluster.namespace, image).spec.containers[0].image.endswith(":2")
    with pytest.raises(client.ApiException) as refused:
        core.patch_namespaced_pod("a", cluster.namespace, {"spec": {"nodeSelector": {"zone": "b"}}})
    assert refused.value.status == 422
    assert body(refused.value)["message"].startswith(
        'Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than'
    )


def test_tolerations_may_only_be_added(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A toleration can be added to an existing pod and none can be taken away."""
    kept = len(core.create_namespaced_pod(cluster.namespace, pod("a")).spec.tolerations)
    extra = {"key": "reserved", "operator": "Exists", "effect": "NoSchedule"}
    adding = [{"op": "add", "path": "/spec/tolerations/-", "value": extra}]
    added = core.patch_namespaced_pod("a", cluster.namespace, adding)
    assert len(added.spec.tolerations) == kept + 1
    with pytest.raises(client.ApiException, match="existing toleration can not be modified"):
        core.patch_namespaced_pod("a", cluster.namespace, [{"op": "remove", "path": f"/spec/tolerations/{kept}"}])


def test_quota_refuses_what_is_too_much(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod that would break a quota of its namespace is refused with its figures; one that just fits is not."""
    hard = {"pods": "5", "requests.cpu": "100m"}
    core.create_namespaced_resource_quota(cluster.namespace, {"metadata": {"name": "q"}, "spec": {"hard": hard}})

    def used() -> dict[str, str] | None:
        return core.read_namespaced_resource_quota("q", cluster.namespace).status.used

    wait_for(lambda: used() == {"pods": "0", "requests.cpu": "0"}, "the quota is known")
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    wait_for(lambda: used() == {"pods": "1", "requests.cpu": "100m"}, "the pod is counted")
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod(cluster.namespace, pod("b"))
    assert refused.value.status == 403
    assert body(refused.value)["message"] == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=100m, '
        "limited: requests.cpu=100m"
    )


def test_log_of_a_pod_without_a_node_is_empty(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Nobody could have written one."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    assert not core.read_namespaced_pod_log("a", cluster.namespace)


def test_log_of_a_container_that_has_not_started(server: Running) -> None:
    """It answers 400 in the kubelet's words; the kubelet on the real control plane serves no logs."""
    core = client.CoreV1Api(server.api())
    core.create_namespaced_pod("default", pod("a", nodeName="n1"))
    with pytest.raises(client.ApiException, match="is waiting to start: ContainerCreating"):
        core.read_namespaced_pod_log("a", "default")


def test_quota_counts_what_is_used(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A quota's status follows the pods of its namespace as they come, finish and go."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    hard = {"pods": "5", "requests.cpu": "1"}
    core.create_namespaced_resource_quota(cluster.namespace, {"metadata": {"name": "q"}, "spec": {"hard": hard}})

    def used() -> dict[str, str]:
        return core.read_namespaced_resource_quota("q", cluster.namespace).status.used

    wait_for(lambda: used() == {"pods": "1", "requests.cpu": "100m"}, "one pod is counted")
    core.create_namespaced_pod(cluster.namespace, pod("b"))
    assert used() == {"pods": "2", "requests.cpu": "200m"}
    core.patch_namespaced_pod_status("b", cluster.namespace, {"status": {"phase": "Succeeded"}})
    core.delete_namespaced_pod("a", cluster.namespace)
    wait_for(lambda: used() == {"pods": "0", "requests.cpu": "0"}, "none is counted")
