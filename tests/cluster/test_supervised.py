"""No answer ends a background thread for good, whatever its headers and its body are."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.acting.lease import ClusterLease
from engine.cluster.connecting.access import Access
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings, LoadedCredentials
from engine.cluster.errors import SettingsError
from engine.cluster.timing import BackOff, sent_at_s
from engine.cluster.watching import supervised
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.reflector import Reflector
from engine.cluster.watching.supervised import Supervised, failures
from engine.cluster.watching.tables import TABLES
from engine.cluster.watching.yunikorn import YunikornReader
from tests.cluster import yunikorn
from tests.cluster.doubles import Answer, Asked, ManualClock, Scripted, scripted
from tests.cluster.test_reflector import Kept
from tests.properties import examples
from tests.waiting import wait_for

HUGE = "9" * 20
"""More than a number of C holds: what is made of it is no ValueError."""
FAR = [
    *(f"Thu, 01 Jan {HUGE} 00:00:00 GMT", f"Thu, 01 Jan 2026 {HUGE}:00:00 GMT", f"Thu, 01 Jan 2026 00:00:00 +{HUGE}"),
    *("Thu, 01 Jan 99999 00:00:00 GMT", "Thu, 01 Jan 9999 00:00:00 -9999", "Thu, 31 Dec 0000 00:00:00 GMT"),
]
DATES = st.sampled_from([*FAR, "", "yesterday", "1", "Thu", "Thu, 32 Jan 2026 25:61:61 GMT"]) | st.from_regex(
    r"\A[ -~]{0,40}\Z"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "items", "kind", "resourceVersion", "continue", "leaseDurationSeconds"]
            )
            | st.sampled_from(
                ["holderIdentity", "renewTime", "leaseTransitions", "name", "uid", "type", "object", "status"]
            )
            | st.sampled_from(["EventRecords", "LowestID", "HighestID", "InstanceUUID", "code", "message", "details"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("date", [*FAR, None, ""])
def test_a_time_that_is_none_is_none(date: str | None) -> None:
    """Nor is it an error: nobody's clock is compared with it."""
    found = sent_at_s(date)
    assert found is None or abs(found) < 1e12
    assert sent_at_s("Thu, 01 Jan 1970 00:01:00 GMT") == 60


class Anything:
    """An API server that answers what it is told to."""

    def __init__(self) -> None:
        self.code, self.date = 200, ""
        self.body: Any = None

    def script(self, _asked: Asked, answer: Answer) -> None:
        answer.dated(self.date)
        answer.json(self.code, self.body, {"Retry-After": self.date})


@pytest.fixture(scope="module")
def anything() -> Iterator[tuple[Anything, Scripted]]:
    told = Anything()
    with scripted(told.script) as server:
        yield told, server


def of_lease(connection: Connection) -> Callable[[], Any]:
    """A turn of each thread that asks an API server."""
    return ClusterLease(connection, identity="us", clock=ManualClock())._renew


def of_yunikorn(connection: Connection) -> Callable[[], Any]:
    return YunikornReader(connection, yunikorn.SERVICE, list)._turn


def of_reflector(kind: str) -> Callable[[Connection], Callable[[], Any]]:
    table = next(table for table in TABLES if table.kind == kind)
    quick = ReflectorSettings(watch_s=1, idle_margin_s=0.3, shortest_watch_s=0.0, list_timeout_s=5.0)
    return lambda connection: Reflector(connection, table, Kept(), settings=quick, back_off=BackOff(0.001, 0.002))._turn


THREADS = {
    "lease": of_lease,
    "yunikorn": of_yunikorn,
    **{f"reflector-{table.kind}": of_reflector(table.kind) for table in TABLES},
}


@pytest.mark.parametrize("thread", THREADS)
def test_no_answer_is_a_surprise(anything: tuple[Anything, Scripted], thread: str) -> None:
    """Each is understood or refused, by a sentence that says what is wrong: no turn raises anything."""
    told, server = anything
    turn = THREADS[thread](server.connection())

    @examples(100)
    @given(code=st.sampled_from([200, 200, 201, 204, 301, 404, 409, 410, 429, 500]), date=DATES, body=VALUES)
    def answered(code: int, date: str, body: Any) -> None:
        told.code, told.body, told.date = code, body, date
        turn()

    answered()


def test_what_fails_is_begun_again_counted_and_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later each time, until it goes well."""
    monkeypatch.setattr(supervised, "BackOff", lambda **_settings: BackOff(0.001, 0.002))
    before, told, turns = failures().get("of a test", 0), list[str](), iter([OverflowError("far"), ValueError(), 0.0])
    done = threading.Event()

    def turn() -> float:
        match next(turns, None):
            case Exception() as error:
                raise error
            case None:
                done.set()
        return 0.001

    thread = Supervised("of a test", turn, failed=told.append)
    thread.start()
    wait_for(done.is_set, "all turns")
    assert thread.stop(10)
    assert told == ["it failed unexpectedly (OverflowError)", "it failed unexpectedly (ValueError)"]
    assert failures()["of a test"] == before + 2
    assert "OverflowError: far" in caplog.text


def test_one_that_never_began_has_ended() -> None:
    assert Supervised("never", lambda: 0.0).stop(0.1)


def test_signing_in_that_fails_unexpectedly_is_told_and_tried_again() -> None:
    """Whoever needs it does not wait for good."""
    clock, outcomes = (
        ManualClock(),
        iter(
            [
                LoadedCredentials(address="https://c", authorization="old"),
                OverflowError(),
                LoadedCredentials(address="https://c", authorization="new"),
            ]
        ),
    )

    def load() -> LoadedCredentials:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    access = Access(load, clock)
    with pytest.raises(SettingsError, match=r"OverflowError"):
        access.reload(10)
    clock.now_s += 3_600
    access.reload(10)
    assert access.credentials.authorization == "new"


def test_the_settings_of_these_tests_open_a_connection() -> None:
    """So that what is asked above is asked at all."""
    with scripted(lambda _asked, answer: answer.json(200, {"kind": "x"})) as server:
        assert Connection(ConnectionSettings(address=server.address)).request("GET", "/x").body
        assert [asked.path for asked in server.asked] == ["/x"]
