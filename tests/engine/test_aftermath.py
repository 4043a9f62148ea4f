"""The pod that a controller made in a victim's place is found, and stands in for one victim alone."""

from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.observation.replacements import EvictedPod, successors
from tests.builders import pod


def state(*pods: Pod) -> ClusterState:
    """A cluster with these pods."""
    found = ClusterState()
    found.pods.update({one.uid: one for one in pods})
    return found


def lost(name: str, at: int = 5500, app: str = "web", namespace: str = "ns") -> EvictedPod:
    """A pod of a ReplicaSet, evicted 5.5 s after the beginning."""
    return EvictedPod(uid=f"uid-{name}", namespace=namespace, controller=f"ReplicaSet/{app}", evicted_ms=at)


def made(name: str, at: int, app: str = "web") -> Pod:
    return pod(name, app=app, created_ms=at)


def names(found: dict[str, Pod]) -> dict[str, str]:
    return {uid: one.name for uid, one in found.items()}


def test_it_is_the_first_that_the_controller_made_since() -> None:
    """Within the same second counts: the API server writes no fractions."""
    at = state(made("old", 4000), made("later", 7000), made("first", 5000), made("others", 5000, app="db"))
    assert names(successors(at, [lost("a")])) == {"uid-a": "first"}


def test_each_stands_in_for_one_victim() -> None:
    """In the order in which they went; who already stands in for another does not again."""
    at = state(made("one", 5000), made("two", 6000), made("three", 9000))
    assert names(successors(at, [lost("b", 5900), lost("a", 5100)])) == {"uid-a": "one", "uid-b": "two"}
    assert names(successors(at, [lost("a")], taken={"uid-one"})) == {"uid-a": "two"}


def test_a_victim_of_two_decisions_has_one_successor() -> None:
    """It leaves the next one to another victim."""
    at = state(made("one", 5000), made("two", 6000))
    twice = [lost("a", 5100), lost("a", 5200), lost("b", 5900)]
    assert names(successors(at, twice)) == {"uid-a": "one", "uid-b": "two"}


def test_nobody_stands_in_for_itself_or_from_elsewhere() -> None:
    """A victim that is still on its way out, a pod of the same name of another namespace."""
    at = state(made("a", 5000))
    assert successors(at, [lost("a")]) == {}
    assert successors(at, [lost("b", namespace="other")]) == {}
    assert successors(at, []) == {}
