"""The total resource requests of a pod, added up as kube-scheduler and the quota system do."""

from collections.abc import Iterable

from engine.formats.kubernetes.interning import shared
from engine.formats.kubernetes.wire import ContainerStatus, PodSpec, PodStatus, Quantities, ResourceRequirements
from engine.formats.tree_json.amounts import LARGEST
from engine.model.quantities import CPU, PODS, Amounts, add, parse_amount, total

Items = tuple[tuple[str, str | int | float], ...]
"""Quantities as written in the object, as a tuple that can be a cache key."""
_PLAIN = (CPU, "memory", "ephemeral-storage", PODS)
"""Resources whose requests a quota limits by their plain name, without the prefix ``requests.``."""
Size = tuple[Items, Items]
"""Requests and limits of a container or a pod."""
Held = tuple[Items, Items] | None
"""The requests that the kubelet has configured, and the amounts allocated; None if the status does not report them."""


def amounts(quantities: Quantities | None) -> Amounts:
    """Convert a Kubernetes resource list to integer units. Equal lists share a mapping. Raise QuantityError."""
    return _amounts(_items(quantities))


def quota_requests(hard: Quantities) -> Amounts:
    """Return the requests that a quota limits, without limits, storage and object counts. Raise QuantityError."""
    requests: Amounts = {}
    for name, text in hard.items():
        resource = name.removeprefix("requests.")
        if resource != "storage" and (resource != name or name in _PLAIN):
            amount = amounts({resource: text})[resource]
            requests[resource] = min(amount, requests.get(resource, amount))
    return requests


def pod_requests(spec: PodSpec, status: PodStatus | None = None) -> Amounts:
    """Return the effective requests of a pod, including ``pods: 1``. Raise QuantityError.

    The result is the sum of the containers and sidecars, but at least what each ordinary init container needs together
    with the sidecars started before it. Requests of the pod itself replace that sum; overhead is added. While a bound
    pod is being resized in place, it holds the larger of its requests and of the amounts in its status. Equal results
    share a mapping.

    Source: PodRequests of k8s.io/component-helpers/resource; requests default to limits, as the API server fills in.
    """
    at = status if status is not None and spec.node_name else None
    held = _held(at) if at else {}
    own_held = _held_by_pod(at) if at else None
    return _pod_requests(
        tuple([(_size(container.resources), held.get(container.name)) for container in spec.containers or ()]),
        tuple(
            [
                (_size(container.resources), held.get(container.name), container.sidecar)
                for container in spec.init_containers or ()
            ]
        ),
        None if spec.resources is None else _size(spec.resources),
        own_held,
        _items(spec.overhead),
        bool(at and (held or own_held)) and _infeasible(at),
    )


LEAST_SCORED: Amounts = {CPU: 100, "memory": 200 * 1024 * 1024}
"""What a container without a request counts as where nodes are compared.

Source: DefaultMilliCPURequest and DefaultMemoryRequest of kube-scheduler, pkg/scheduler/util.
"""


def scored_requests(spec: PodSpec) -> Amounts:
    """Return the pod's requests of cpu and memory as they count where nodes are compared.

    The result is empty if no container lacks a request, as it is then the same as what the pod requests. Equal results
    share a mapping.

    Source: NonZeroRequested of kube-scheduler, which is PodRequests with NonMissingContainerRequests.
    """
    return _scored_requests(
        tuple([_size(container.resources) for container in spec.containers or ()]),
        tuple([(_size(container.resources), container.sidecar) for container in spec.init_containers or ()]),
        () if spec.resources is None else _items(spec.resources.requests),
        _items(spec.overhead),
    )


@shared
def _scored_requests(
    containers: tuple[Size, ...], init_containers: tuple[tuple[Size, bool], ...], pod_level: Items, overhead: Items
) -> Amounts:
    sizes = [_requests(size) for size in (*containers, *(size for size, _sidecar in init_containers))]
    if all(requests.keys() >= LEAST_SCORED.keys() for requests in sizes):
        return {}
    completed = [LEAST_SCORED | requests for requests in sizes]
    first = zip(completed[len(containers) :], (sidecar for _size, sidecar in init_containers), strict=True)
    scored = _of_containers(completed[: len(containers)], first) | _pod_level(pod_level)
    more = _amounts(overhead)
    return {name: scored[name] + max(0, more.get(name, 0)) for name in LEAST_SCORED}


def _held(status: PodStatus) -> dict[str | None, Held]:
    statuses = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    return {
        status_of_container.name: _held_by(status_of_container)
        for status_of_container in statuses
        if status_of_container.resources is not None
    }


def _held_by(status: ContainerStatus) -> Held:
    assert status.resources is not None
    return _items(status.resources.requests), _items(status.allocated_resources)


def _held_by_pod(status: PodStatus) -> Held:
    if status.resources is None:
        return None
    return _items(status.resources.requests), _items(status.allocated_resources)


def _infeasible(status: PodStatus | None) -> bool:
    """Return whether the node can never hold the pod's new requests, so that the resize is not carried out."""
    resize = next(
        (condition for condition in (status and status.conditions) or () if condition.type == "PodResizePending"), None
    )
    return resize is not None and resize.reason == "Infeasible"


@shared
def _amounts(items: Items) -> Amounts:
    return _bounded({resource: parse_amount(resource, text) for resource, text in items})


@shared
def _pod_requests(
    containers: tuple[tuple[Size, Held], ...],
    init_containers: tuple[tuple[Size, Held, bool], ...],
    pod_size: Size | None,
    own_held: Held,
    overhead: Items,
    infeasible: bool,
) -> Amounts:
    running = [_effective(_requests(size), held, infeasible) for size, held in containers]
    first = [
        (_effective(_requests(size), held if sidecar else None, infeasible), sidecar)
        for size, held, sidecar in init_containers
    ]
    result = _of_containers(running, first)
    if pod_size is not None:
        requests, limits = pod_size
        stated = _effective(_pod_level(requests), own_held if requests else None, infeasible)
        result = _pod_level(limits) | result | {name: stated.get(name, 0) for name in _pod_level(requests)}
    more = {name: max(0, amount) for name, amount in _amounts(overhead).items()}  # as of containers: none asks for less
    return _bounded(total((result, more, {PODS: 1})))


def _effective(requests: Amounts, held: Held, infeasible: bool) -> Amounts:
    if held is None:
        return requests
    made, set_aside = held
    has = _at_least(_amounts(made), _amounts(set_aside))
    return has if infeasible else _at_least(requests, has)


def _of_containers(containers: Iterable[Amounts], init_containers: Iterable[tuple[Amounts, bool]]) -> Amounts:
    running = total(containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for needed, sidecar in init_containers:
        if sidecar:
            running = add(running, needed)
            sidecars = add(sidecars, needed)
            peak = _at_least(peak, sidecars)
        else:
            peak = _at_least(peak, add(sidecars, needed))
    return _at_least(running, peak)


def _size(resources: ResourceRequirements | None) -> Size:
    return ((), ()) if resources is None else (_items(resources.requests), _items(resources.limits))


def _items(quantities: Quantities | None) -> Items:
    return tuple(quantities.items()) if quantities else ()


def _requests(size: Size) -> Amounts:
    requests, limits = size
    return _amounts(limits) | _amounts(requests)


def _at_least(first: Amounts, second: Amounts) -> Amounts:
    return {resource: max(first.get(resource, 0), second.get(resource, 0)) for resource in first | second}


def _pod_level(items: Items) -> Amounts:
    """Return the amounts that count among a pod's own resources; Kubernetes ignores all others there."""
    return {
        resource: amount
        for resource, amount in _amounts(items).items()
        if resource in ("cpu", "memory") or resource.startswith("hugepages-")
    }


def _bounded(unbounded: Amounts) -> Amounts:
    """Return the amounts limited to 64 bits: Kubernetes accepts larger amounts and counts them as its largest number.

    Source: Quantity.Value and MilliValue of k8s.io/apimachinery/pkg/api/resource.
    """
    return {resource: min(amount, LARGEST) for resource, amount in unbounded.items()}
