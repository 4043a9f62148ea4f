"""What a pod asks for in all, as kube-scheduler and the quota system add it up."""

from collections.abc import Iterable
from functools import lru_cache

from engine.formats.amounts import LARGEST
from engine.formats.kubernetes_wire import Container, PodSpec, Quantities, ResourceRequirements
from engine.resources import PODS, Amounts, QuantityError, add, parse_amount, total

# A cluster uses few distinct quantities, in very many pods; parsing exact fractions is the dear part of decoding one.
_amount = lru_cache(maxsize=65_536)(parse_amount)


def amounts(quantities: Quantities | None) -> Amounts:
    """A Kubernetes resource list in integer units. Raises QuantityError."""
    return _bounded({resource: _amount(resource, text) for resource, text in (quantities or {}).items()})


def pod_requests(spec: PodSpec) -> Amounts:
    """The effective requests of a pod, ``pods: 1`` included. Raises QuantityError.

    The sum of containers and sidecars; at least what each ordinary init container and the sidecars started before it
    need together; replaced by the pod's own requests where it states them; plus overhead.
    Source: PodRequests of k8s.io/component-helpers/resource; requests default to limits, as the API server fills in.
    """
    result = _of_containers(spec.containers or (), spec.init_containers or ())
    if spec.resources is not None:
        result = _pod_level(spec.resources.limits) | result | _pod_level(spec.resources.requests)
    return _bounded(total((result, amounts(spec.overhead), {PODS: 1})))


def _of_containers(containers: Iterable[Container], init_containers: Iterable[Container]) -> Amounts:
    running = total(_requests(container.resources) for container in containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in init_containers:
        needed = _requests(container.resources)
        if container.sidecar:
            running = add(running, needed)
            sidecars = add(sidecars, needed)
            needed = sidecars
        else:
            needed = add(sidecars, needed)
        peak = _at_least(peak, needed)
    return _at_least(running, peak)


def _requests(resources: ResourceRequirements | None) -> Amounts:
    if resources is None:
        return {}
    return amounts(resources.limits) | amounts(resources.requests)


def _at_least(one: Amounts, other: Amounts) -> Amounts:
    return {resource: max(one.get(resource, 0), other.get(resource, 0)) for resource in one | other}


def _pod_level(quantities: Quantities | None) -> Amounts:
    """Of a pod's own resources only these count; Kubernetes ignores any other there."""
    return {
        resource: amount
        for resource, amount in amounts(quantities).items()
        if resource in ("cpu", "memory") or resource.startswith("hugepages-")
    }


def _bounded(found: Amounts) -> Amounts:
    """The same. More than 64 bits, as of ``cpu: 9E``, is nothing that a node has, and no journal takes it."""
    for resource, amount in found.items():
        if amount > LARGEST:
            raise QuantityError(f"{amount} of {resource} is too large")
    return found
