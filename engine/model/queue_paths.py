"""Paths of queues: which queue lies inside which, and what a queue was called before."""

from collections.abc import Iterator

Renames = tuple[tuple[str, str], ...]
"""Pairs of a former path of a queue and its present path."""


def is_inside(path: str, subtree: str) -> bool:
    """Return whether a queue is the top of a subtree or lies below it."""
    return path == subtree or path.startswith(f"{subtree}.")


def known_as(path: str, among: Renames, *, alone: bool = False) -> frozenset[str]:
    """Return the former paths of a queue, and of those below it unless ``alone``.

    Former paths that lie inside the queue's present path are left out. A path follows from a former path of the queue,
    of a queue below it, or of a queue above it; each of these is applied once.
    """
    found: set[str] = set()
    pending = [(path, frozenset[tuple[str, str]]())]
    while pending:
        one, used = pending.pop()
        for rename in among:
            former, now = rename
            above = is_inside(one, now)
            if rename in used or not (above or (is_inside(now, one) and not alone)):
                continue
            was = former + one[len(now) :] if above else former
            if was not in found and not is_inside(was, path):
                found.add(was)
                pending.append((was, used | {rename}))
    return frozenset(found)


def current_path(path: str, among: Renames) -> str:
    """Return the present path of a queue that was called ``path`` before; the same path if it was not renamed."""
    left = dict(among)
    while left and (above := next((was for was in upwards(path) if was in left), None)):
        path = left.pop(above) + path[len(above) :]
    return path


def upwards(path: str) -> Iterator[str]:
    """Yield a path, and those of the queues above it, nearest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]
