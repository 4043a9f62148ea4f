"""What is special about pods: binding, eviction, priority, quota, and what may change."""

from typing import Any

import pytest
from kubernetes import client
from simulated_api import Running, body, make_running, pod


@pytest.fixture
def running_pod(core: client.CoreV1Api, server: Running) -> client.V1Pod:
    """Return a running pod called a."""
    core.create_namespaced_pod("default", pod("a"))
    server.call(server.store.mutate, "pods", "default", "a", make_running)
    return core.read_namespaced_pod("a", "default")


def set_budget(server: Running, allowed: int, **spec: Any) -> None:
    """Create a disruption budget for the pods of these tests, as its controller would have counted it."""
    manifest = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}}
    server.call(server.store.create, "poddisruptionbudgets.policy", manifest, "default")

    def count(copy: dict[str, Any]) -> None:
        copy["status"] = {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": 1,
            "desiredHealthy": 1 - allowed,
            "expectedPods": 1,
        }

    server.call(server.store.mutate, "poddisruptionbudgets.policy", "default", "b", count, "status")


def evict(core: client.CoreV1Api, **options: Any) -> Any:
    """Evict pod a."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "default"}}
    return core.create_namespaced_pod_eviction("a", "default", {**eviction, "deleteOptions": options})


def test_eviction_deletes_gracefully_and_says_why(core: client.CoreV1Api, running_pod: client.V1Pod) -> None:
    """An evicted pod gets its grace period and the condition DisruptionTarget."""
    evict(core, gracePeriodSeconds=5)
    found = core.read_namespaced_pod("a", "default")
    assert found.metadata.deletion_grace_period_seconds == 5
    condition = next(item for item in found.status.conditions if item.type == "DisruptionTarget")
    assert (condition.status, condition.reason, condition.message) == (
        "True",
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
    )


def test_budget_refuses_an_eviction(core: client.CoreV1Api, server: Running, running_pod: client.V1Pod) -> None:
    """An eviction that a budget does not allow answers 429 with the budget's figures and changes nothing."""
    set_budget(server, 0)
    version = server.store.resource_version
    with pytest.raises(client.ApiException) as refused:
        evict(core)
    found = body(refused.value)
    assert (found["code"], found["reason"]) == (429, "TooManyRequests")
    assert found["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert found["details"]["causes"] == [
        {"reason": "DisruptionBudget", "message": "The disruption budget b needs 1 healthy pods and has 1 currently"}
    ]
    assert server.store.resource_version == version


def test_budget_is_charged(core: client.CoreV1Api, server: Running, running_pod: client.V1Pod) -> None:
    """An allowed eviction takes one disruption from the budget and notes the pod in it."""
    set_budget(server, 1)
    evict(core)
    status = client.PolicyV1Api(server.api()).read_namespaced_pod_disruption_budget("b", "default").status
    assert status.disruptions_allowed == 0
    assert list(status.disrupted_pods) == ["a"]
    assert core.read_namespaced_pod("a", "default").metadata.deletion_timestamp


def test_uncounted_budget_asks_to_wait(core: client.CoreV1Api, server: Running, running_pod: client.V1Pod) -> None:
    """A budget that its controller has not seen yet refuses with a time to wait."""
    manifest = {"metadata": {"name": "b"}, "spec": {"selector": {}}}
    server.call(server.store.create, "poddisruptionbudgets.policy", manifest, "default")
    with pytest.raises(client.ApiException) as refused:
        evict(core)
    assert refused.value.headers["Retry-After"] == "10"
    assert body(refused.value)["details"]["retryAfterSeconds"] == 10


def test_two_budgets_are_an_error(core: client.CoreV1Api, server: Running, running_pod: client.V1Pod) -> None:
    """A pod with two budgets can't be evicted: the server says that it does not support that."""
    set_budget(server, 1)
    manifest = {"metadata": {"name": "second"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    server.call(server.store.create, "poddisruptionbudgets.policy", manifest, "default")
    with pytest.raises(client.ApiException) as refused:
        evict(core)
    assert refused.value.status == 500
    assert "more than one PodDisruptionBudget" in body(refused.value)["message"]


@pytest.mark.parametrize(("policy", "code"), [("IfHealthyBudget", 429), ("AlwaysAllow", None)])
def test_unhealthy_pods_leave_as_the_budget_says(
    core: client.CoreV1Api, server: Running, running_pod: client.V1Pod, policy: str, code: int | None
) -> None:
    """A pod that is not ready may always go under AlwaysAllow, and only from a healthy budget otherwise."""
    core.patch_namespaced_pod_status("a", "default", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    set_budget(server, 0, unhealthyPodEvictionPolicy=policy)
    short = {"status": {"currentHealthy": 0, "desiredHealthy": 1}}
    client.PolicyV1Api(server.api()).patch_namespaced_pod_disruption_budget_status("b", "default", short)
    try:
        evict(core)
        found = None
    except client.ApiException as error:
        found = error.status
    assert found == code


def test_dry_run_eviction_asks_the_budget_and_changes_nothing(
    core: client.CoreV1Api, server: Running, running_pod: client.V1Pod
) -> None:
    """A dry-run eviction is refused or allowed as a real one, and writes nothing either way."""
    set_budget(server, 1)
    version = server.store.resource_version
    evict(core, dryRun=["All"])
    assert server.store.resource_version == version
    assert server.audit[-1].dry_run
    client.PolicyV1Api(server.api()).patch_namespaced_pod_disruption_budget_status(
        "b", "default", {"status": {"disruptionsAllowed": 0}}
    )
    with pytest.raises(client.ApiException, match="429"):
        evict(core, dryRun=["All"])


def test_eviction_means_one_pod_only(core: client.CoreV1Api, server: Running, running_pod: client.V1Pod) -> None:
    """An eviction with another pod's UID answers 409 and charges no budget; with the right one it passes."""
    set_budget(server, 1)
    version = server.store.resource_version
    with pytest.raises(client.ApiException) as refused:
        evict(core, preconditions={"uid": "another"})
    assert (refused.value.status, body(refused.value)["reason"]) == (409, "Conflict")
    assert server.store.resource_version == version
    evict(core, preconditions={"uid": running_pod.metadata.uid})
    assert core.read_namespaced_pod("a", "default").metadata.deletion_timestamp


def bind(core: client.CoreV1Api, name: str, node: str) -> None:
    """Bind a pod as a scheduler does."""
    binding = {"metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
    core.create_namespaced_pod_binding(name, "default", binding, _preload_content=False)


def test_binding_assigns_once(core: client.CoreV1Api) -> None:
    """Binding puts a pod on a node and says so in its conditions; a second binding answers 409."""
    core.create_namespaced_pod("default", pod("a"))
    bind(core, "a", "n1")
    found = core.read_namespaced_pod("a", "default")
    assert found.spec.node_name == "n1"
    assert [(item.type, item.status) for item in found.status.conditions] == [("PodScheduled", "True")]
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod_binding(
            "a", "default", {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n2"}}
        )
    assert body(refused.value)["message"] == (
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
    )


def test_priority_comes_from_the_class(core: client.CoreV1Api, server: Running) -> None:
    """A pod gets the value and the preemption policy of its class, and of the default class when it names none."""
    scheduling = client.SchedulingV1Api(server.api())
    scheduling.create_priority_class({"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    named = core.create_namespaced_pod("default", pod("a", priorityClassName="high")).spec
    assert (named.priority, named.preemption_policy) == (1000, "Never")
    assert core.create_namespaced_pod("default", pod("b")).spec.priority == 0
    scheduling.create_priority_class({"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    unnamed = core.create_namespaced_pod("default", pod("c")).spec
    assert (unnamed.priority, unnamed.priority_class_name) == (7, "usual")
    system = core.create_namespaced_pod("kube-system", pod("d", priorityClassName="system-node-critical")).spec
    assert system.priority == 2_000_001_000


def test_unknown_priority_class_is_forbidden(core: client.CoreV1Api) -> None:
    """A pod of a class that does not exist is refused in the words of the priority admission."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("default", pod("a", priorityClassName="none"))
    assert body(refused.value)["message"] == 'pods "a" is forbidden: no PriorityClass with name none was found'


def test_priority_can_not_be_made_up(core: client.CoreV1Api) -> None:
    """A pod can't bring a priority that its class does not have."""
    with pytest.raises(client.ApiException, match="must not be provided in pod spec"):
        core.create_namespaced_pod("default", pod("a", priority=99))


def test_bad_quantity_is_refused(core: client.CoreV1Api, server: Running) -> None:
    """A request that is no quantity answers 400."""
    manifest = pod("a")
    manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "much"
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("default", manifest)
    assert refused.value.status == 400
    assert server.store.find("pods", "default", "a") is None


def test_pod_is_defaulted(core: client.CoreV1Api) -> None:
    """A pod gets the defaults that schedulers and kubelets rely on."""
    found = core.create_namespaced_pod("default", pod("a"))
    assert (found.spec.restart_policy, found.spec.scheduler_name) == ("Always", "default-scheduler")
    assert found.spec.termination_grace_period_seconds == 30
    assert (found.status.phase, found.status.qos_class) == ("Pending", "Burstable")
    assert [(item.key, item.effect, item.toleration_seconds) for item in found.spec.tolerations] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 300),
    ]


def test_pod_keeps_its_specification(core: client.CoreV1Api) -> None:
    """Only the image and few other fields of a pod may change; anything else answers 422."""
    core.create_namespaced_pod("default", pod("a"))
    image = {"spec": {"containers": [{"name": "main", "image": "registry.example/app:2"}]}}
    assert core.patch_namespaced_pod("a", "default", image).spec.containers[0].image.endswith(":2")
    with pytest.raises(client.ApiException) as refused:
        core.patch_namespaced_pod("a", "default", {"spec": {"nodeSelector": {"zone": "b"}}})
    assert refused.value.status == 422
    assert body(refused.value)["message"].startswith(
        'Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than'
    )


def test_tolerations_may_only_be_added(core: client.CoreV1Api) -> None:
    """A toleration can be added to an existing pod and none can be taken away."""
    kept = len(core.create_namespaced_pod("default", pod("a")).spec.tolerations)
    extra = {"key": "reserved", "operator": "Exists", "effect": "NoSchedule"}
    added = core.patch_namespaced_pod("a", "default", [{"op": "add", "path": "/spec/tolerations/-", "value": extra}])
    assert len(added.spec.tolerations) == kept + 1
    with pytest.raises(client.ApiException, match="existing toleration can not be modified"):
        core.patch_namespaced_pod("a", "default", [{"op": "remove", "path": f"/spec/tolerations/{kept}"}])


def test_quota_refuses_what_is_too_much(core: client.CoreV1Api) -> None:
    """A pod that would break a quota of its namespace is refused with its figures; one that just fits is not."""
    hard = {"pods": "5", "requests.cpu": "100m"}
    core.create_namespaced_resource_quota("default", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("default", pod("b"))
    assert refused.value.status == 403
    assert body(refused.value)["message"] == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=100m, '
        "limited: requests.cpu=100m"
    )


def test_log_of_a_container_that_has_not_started(core: client.CoreV1Api) -> None:
    """Asking for the log of a pending pod answers 400 in the API's words."""
    core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException, match="is waiting to start: ContainerCreating"):
        core.read_namespaced_pod_log("a", "default")


def test_quota_counts_what_is_used(core: client.CoreV1Api, server: Running) -> None:
    """A quota's status follows the pods of its namespace as they come, finish and go."""
    core.create_namespaced_pod("default", pod("a"))
    hard = {"pods": "5", "requests.cpu": "1"}
    core.create_namespaced_resource_quota("default", {"metadata": {"name": "q"}, "spec": {"hard": hard}})

    def used() -> dict[str, str]:
        return core.read_namespaced_resource_quota("q", "default").status.used

    assert used() == {"pods": "1", "requests.cpu": "100m"}
    core.create_namespaced_pod("default", pod("b"))
    assert used() == {"pods": "2", "requests.cpu": "200m"}
    server.call(server.store.mutate, "pods", "default", "b", lambda copy: copy["status"].update(phase="Succeeded"))
    core.delete_namespaced_pod("a", "default")
    assert used() == {"pods": "0", "requests.cpu": "0"}
