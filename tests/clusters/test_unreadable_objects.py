"""Which of the objects that can't be read are kept."""

from datetime import UTC, datetime

from scheduler_admin.clusters.status.unreadable_objects import kept

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_nobodys_many_hide_those_of_others() -> None:
    """Of every namespace the first, in order of their names; since when is kept."""
    odd = {f"Pod many/{number:03}": "why" for number in range(500)} | {"Pod one/z": "why", "Node n": "x" * 999}
    found = kept(odd, [{"object": "Pod one/z", "since_ms": 7}], NOW)
    names = [one["object"] for one in found]
    assert len(names) == 200
    assert names == sorted(names)
    assert {"Pod one/z", "Node n", "Pod many/000"} <= {*names}
    since = {one["object"]: one["since_ms"] for one in found}
    assert (since["Pod one/z"], since["Node n"]) == (7, int(NOW.timestamp() * 1000))
    assert max(len(one["why"]) for one in found) == 300
