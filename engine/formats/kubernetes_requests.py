"""What a pod asks for in all, as kube-scheduler and the quota system add it up."""

from collections.abc import Iterable

from engine.formats.amounts import LARGEST
from engine.formats.kubernetes_wire import PodSpec, Quantities, ResourceRequirements
from engine.formats.sharing import shared
from engine.resources import PODS, Amounts, QuantityError, add, parse_amount, total

Items = tuple[tuple[str, str | int | float], ...]
"""Quantities as they stand in the object, so that they can be looked up."""
Size = tuple[Items, Items]
"""Requests and limits."""


def amounts(quantities: Quantities | None) -> Amounts:
    """A Kubernetes resource list in integer units; equal ones share one mapping. Raises QuantityError."""
    return _amounts(_items(quantities))


def pod_requests(spec: PodSpec) -> Amounts:
    """The effective requests of a pod, ``pods: 1`` included; equal ones share one mapping. Raises QuantityError.

    The sum of containers and sidecars; at least what each ordinary init container and the sidecars started before it
    need together; replaced by the pod's own requests where it states them; plus overhead.
    Source: PodRequests of k8s.io/component-helpers/resource; requests default to limits, as the API server fills in.
    """
    return _pod_requests(
        tuple([_size(one.resources) for one in spec.containers or ()]),
        tuple([(_size(one.resources), one.sidecar) for one in spec.init_containers or ()]),
        None if spec.resources is None else _size(spec.resources),
        _items(spec.overhead),
    )


@shared
def _amounts(items: Items) -> Amounts:
    return _bounded({resource: parse_amount(resource, text) for resource, text in items})


@shared
def _pod_requests(
    containers: tuple[Size, ...], init_containers: tuple[tuple[Size, bool], ...], own: Size | None, overhead: Items
) -> Amounts:
    result = _of_containers(containers, init_containers)
    if own is not None:
        requests, limits = own
        result = _pod_level(limits) | result | _pod_level(requests)
    return _bounded(total((result, _amounts(overhead), {PODS: 1})))


def _of_containers(containers: Iterable[Size], init_containers: Iterable[tuple[Size, bool]]) -> Amounts:
    running = total(_requests(size) for size in containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for size, sidecar in init_containers:
        needed = _requests(size)
        if sidecar:
            running = add(running, needed)
            sidecars = add(sidecars, needed)
            needed = sidecars
        else:
            needed = add(sidecars, needed)
        peak = _at_least(peak, needed)
    return _at_least(running, peak)


def _size(resources: ResourceRequirements | None) -> Size:
    return ((), ()) if resources is None else (_items(resources.requests), _items(resources.limits))


def _items(quantities: Quantities | None) -> Items:
    return tuple(quantities.items()) if quantities else ()


def _requests(size: Size) -> Amounts:
    requests, limits = size
    return _amounts(limits) | _amounts(requests)


def _at_least(one: Amounts, other: Amounts) -> Amounts:
    return {resource: max(one.get(resource, 0), other.get(resource, 0)) for resource in one | other}


def _pod_level(items: Items) -> Amounts:
    """Of a pod's own resources only these count; Kubernetes ignores any other there."""
    return {
        resource: amount
        for resource, amount in _amounts(items).items()
        if resource in ("cpu", "memory") or resource.startswith("hugepages-")
    }


def _bounded(found: Amounts) -> Amounts:
    """The same. More than 64 bits, as of ``cpu: 9E``, is nothing that a node has, and no journal takes it."""
    for resource, amount in found.items():
        if amount > LARGEST:
            raise QuantityError(f"{amount} of {resource} is too large")
    return found
