"""Documents as administrators of many queues keep them in Git, in every format."""

from collections.abc import Callable, Iterator

from benchmarks.large import tree
from engine.formats.registry import Format
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_tree import QueueTree


def documents(queues: int) -> dict[Format, str]:
    """A document of about so many queues in each format, each amount and name as people write it."""
    shape = tree(queues)
    consumers, volcano = "kube-arbitrator.incubator.k8s.io/v1", "scheduling.volcano.sh/v1beta1"
    return {
        Format.YUNIKORN: "partitions:\n  - name: default\n    queues:\n" + "".join(_yunikorn(shape, shape.root, 6)),
        Format.KUEUE: "---\n".join(_kueue(shape)),
        Format.CONSUMERS: "---\n".join(_objects(shape, consumers, "Consumer", "parent", _two("reserved", "hard"))),
        Format.VOLCANO: "---\n".join(_objects(shape, volcano, "Queue", "parent", _two("deserved", "capability"))),
        Format.KAI: "---\n".join(_objects(shape, "scheduling.run.ai/v2", "Queue", "parentQueue", _kai)),
        Format.SCHEDULER_ADMIN: "queues:\n" + "".join(_own(shape)),
    }


def _name(path: str) -> str:
    return path.partition(".")[2].replace(".", "-")


def _lines(amounts: Amounts, indent: int) -> str:
    return "".join(f"{' ' * indent}{name}: {format_amount(name, amount)}\n" for name, amount in amounts.items())


def _yunikorn(shape: QueueTree, path: str, indent: int) -> Iterator[str]:
    queue, blanks = shape[path], " " * indent
    yield f"{blanks}- name: {queue.name}\n"
    if queue.guaranteed:
        yield f"{blanks}  resources:\n{blanks}    guaranteed:\n"
        yield _lines(queue.guaranteed, indent + 6).replace(" cpu:", " vcore:")
    if queue.max:
        yield f"{blanks}    max:\n" + _lines(queue.max, indent + 6).replace(" cpu:", " vcore:")
    if not shape.is_leaf(path):
        yield f"{blanks}  queues:\n"
        for child in shape.children[path]:
            yield from _yunikorn(shape, child, indent + 4)


def _own(shape: QueueTree) -> Iterator[str]:
    for path in shape.walk():
        yield f"  - path: {path}\n"
        for key, amounts in (("guaranteed", shape[path].guaranteed), ("max", shape[path].max)):
            if amounts:
                yield f"    {key}:\n" + _lines(amounts, 6).replace(": ", ": '").replace("\n", "'\n")


def _objects(
    shape: QueueTree, version: str, kind: str, parent: str, spec: Callable[[Amounts, Amounts], str]
) -> Iterator[str]:
    for path in shape.walk():
        above = shape[path].parent
        if above is None:
            continue
        namespace = f"  namespace: {_name(path)}\n" if kind == "Consumer" else ""
        yield (
            f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {_name(path)}\n{namespace}spec:\n"
            + (f"  {parent}: {_name(above)}\n" if above != shape.root else "")
            + spec(shape[path].guaranteed, shape[path].max)
        )


def _two(guaranteed: str, most: str) -> Callable[[Amounts, Amounts], str]:
    return lambda low, high: "".join(
        f"  {key}:\n" + _lines(amounts, 4) for key, amounts in ((guaranteed, low), (most, high)) if amounts
    )


def _kai(low: Amounts, high: Amounts) -> str:
    text = "  resources:\n"
    for name, unit in (("cpu", 1), ("memory", 10**6)):
        limit = high[name] // unit if name in high else -1
        text += f"    {name}:\n      quota: {low.get(name, 0) // unit}\n      limit: {limit}\n"
    return text


def _of(amounts: Amounts, name: str) -> list[int]:
    return [amounts[name]] if name in amounts else []


def _kueue(shape: QueueTree) -> Iterator[str]:
    api = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: "
    for path in shape.walk():
        queue, leaf, above = shape[path], shape.is_leaf(path), shape[path].parent
        if above is None:
            continue
        parent = f"  {'cohortName' if leaf else 'parentName'}: {_name(above)}\n" if above != shape.root else ""
        quotas = "".join(
            f"      - name: {name}\n        nominalQuota: {format_amount(name, amount)}\n"
            + (
                f"        borrowingLimit: {format_amount(name, queue.max[name] - amount)}\n"
                if name in queue.max
                else ""
            )
            for name, amount in queue.guaranteed.items()
        )
        yield (
            f"{api}{'ClusterQueue' if leaf else 'Cohort'}\nmetadata:\n  name: {_name(path)}\nspec:\n{parent}"
            + ("  namespaceSelector: {}\n" if leaf else "")
            + f"  resourceGroups:\n  - coveredResources: [{', '.join(queue.guaranteed)}]\n    flavors:\n"
            + f"    - name: default\n      resources:\n{quotas}"
        )
        if leaf:
            metadata = f"metadata:\n  name: default\n  namespace: {_name(path)}\n"
            yield f"{api}LocalQueue\n{metadata}spec:\n  clusterQueue: {_name(path)}\n"
