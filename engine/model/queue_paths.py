"""Paths of queues: what lies inside which, and what a queue was called before."""

from collections.abc import Iterator

Renames = tuple[tuple[str, str], ...]
"""(former path, path now) of queues."""


def is_inside(path: str, subtree: str) -> bool:
    """Whether a queue is the top of a subtree or lies below it."""
    return path == subtree or path.startswith(f"{subtree}.")


def known_as(path: str, among: Renames, *, alone: bool = False) -> frozenset[str]:
    """The former paths of a queue, and of those below it unless ``alone``; without those that lie inside it.

    Such a path follows from a former path of the queue, of one below, or of one above it; each counts once.
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


def called_now(path: str, among: Renames) -> str:
    """What a queue is called by now that was called so before; else the same path."""
    left = dict(among)
    while above := next((was for was in upwards(path) if was in left), None):
        path = left.pop(above) + path[len(above) :]
    return path


def upwards(path: str) -> Iterator[str]:
    """A path, and those of the queues above it, nearest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]
