"""A queue of Kueue's that the tree lacks goes as it was shown, or not at all."""

from typing import Any

import pytest

from engine.cluster.sync.copies import CopyChangedError, Rewrite
from engine.cluster.sync.object_copies import read_objects, write_objects
from engine.formats.kueue.object_kinds import KUEUE
from tests.cluster.doubles import Answer, Asked, scripted


class Served:
    """An API server with one ClusterQueue, to which something happens just before it is first asked to delete it."""

    def __init__(self, **happens: Any) -> None:
        self.spec: dict[str, Any] = {"cohortName": "company"}
        self.version = 1
        self.there = True
        self.guards: list[str] = []
        self._happens = happens

    def __call__(self, asked: Asked, answer: Answer) -> None:
        if asked.method == "DELETE":
            self._delete(asked, answer)
        elif asked.path.endswith("/clusterqueues") and self.there:
            meta = {"name": "research", "uid": "u", "resourceVersion": str(self.version)}
            answer.json(200, {"items": [{"metadata": meta, "spec": self.spec}]})
        else:
            answer.json(200, {"items": []})

    def _delete(self, asked: Asked, answer: Answer) -> None:
        if not self.guards:
            self.spec = self.spec | self._happens
            self.version += 1
        guard = asked.body["preconditions"]
        self.guards.append(guard["resourceVersion"])
        if guard == {"uid": "u", "resourceVersion": str(self.version)}:
            self.there = False
            answer.json(200, {})
        else:
            answer.status(409, message="the ResourceVersion in the precondition does not match")


def deleted(served: Served) -> None:
    """Everything that is shown is to go."""
    with scripted(served) as server:
        connection = server.connection()
        seen = read_objects(KUEUE, connection)
        assert seen is not None
        write_objects(KUEUE, connection, Rewrite(onto=seen.version, before=seen.text, text=""))


def test_it_goes_though_its_status_moves_on() -> None:
    served = Served()
    deleted(served)
    assert (served.there, served.guards) == (False, ["1", "2"])


def test_it_stays_where_somebody_changed_it_at_the_last_moment() -> None:
    served = Served(cohortName="another")
    with pytest.raises(CopyChangedError):
        deleted(served)
    assert served.there
