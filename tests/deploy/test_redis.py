"""Redis goes in the middle of something: the worker connects again, it does not end."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection
from kombu.asynchronous import Hub
from kombu.common import ignore_errors

from scheduler_admin.celery import app
from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import Place
from tests.waiting import PATIENCE_S, wait_for


class Short(Place):
    """A place with a Redis of its own: other tests of this process have one too."""

    @property
    def socket(self) -> Path:
        return self.folder / "redis.sock"


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder whose path is short enough for a socket's."""
    with tempfile.TemporaryDirectory() as folder:
        yield Short(Path(folder))


@pytest.fixture
def redis(place: Place) -> Iterator["subprocess.Popen[bytes]"]:
    """A Redis that answers."""
    process = subprocess.Popen(processes.redis(place), stdout=subprocess.DEVNULL)
    wait_for(place.socket.exists, "Redis is there")
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def connection(place: Place, redis: "subprocess.Popen[bytes]") -> Iterator[Connection]:
    """As the worker reads by, tasks and control apart; one message is not acknowledged, the next are asked for."""
    connection = app.connection_for_read(f"redis+socket://{place.socket}")
    queue = connection.SimpleQueue("engine")
    queue.put("a task")
    assert queue.get(timeout=PATIENCE_S).payload == "a task"
    connection.SimpleQueue("control", channel=connection.channel()).consumer.consume()
    hub = Hub()
    connection.transport.register_with_event_loop(connection.connection, hub)
    next(hub.create_loop())
    yield connection
    hub.close()


def test_a_lost_connection_is_closed_without_another_error(
    connection: Connection, redis: "subprocess.Popen[bytes]"
) -> None:
    """The worker closes it like this before it connects again; any error but of connections would end the worker."""
    redis.kill()
    redis.wait()
    connection.collect(socket_timeout=1)
    ignore_errors(connection, connection.close)


def test_what_a_worker_had_taken_is_not_put_back(connection: Connection, place: Place) -> None:
    """Beat sends it again; Redis holds neither it nor a note that it was taken."""
    connection.close()
    again = app.connection_for_read(f"redis+socket://{place.socket}")
    keys = again.default_channel.client.keys("*")  # type: ignore[attr-defined]
    again.close()
    assert [key for key in keys if not key.startswith(b"_kombu.binding")] == []


def test_nobody_gives_up_looking_for_redis() -> None:
    """However long it is away."""
    assert app.conf.broker_connection_max_retries is None
