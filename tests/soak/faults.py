"""What each fault is: it holds until its block ends, and then nobody has to do anything more."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import psutil
import redis

from tests import postgres
from tests.soak.ground import Ground
from tests.soak.plan import Fault

_BESIDE_S = 5.0
"""How long a worker that woke up goes on beside the one that has replaced it."""


def befalls(ground: Ground, fault: Fault) -> AbstractContextManager[None]:
    """The fault, until the block ends."""
    if fault.target == "api":
        return ground.line.in_trouble(fault.kind)
    if fault.target == "database" and ground.server is not None:
        return _server_killed(ground.server) if fault.kind == "killed" else _server_stopped(ground.server)
    kinds = {"killed": killed, "stopped": stopped, "replaced": replaced, "emptied": emptied, "locked": locked}
    return kinds[fault.kind](ground, fault.target)


@contextmanager
def killed(ground: Ground, name: str) -> Iterator[None]:
    """As by the kernel that is out of memory; started again as whatever runs containers would."""
    child = ground.product.children._children[name]
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    try:
        yield
    finally:
        _begin(ground, name)


@contextmanager
def stopped(ground: Ground, name: str) -> Iterator[None]:
    """It does nothing, and wakes up as if no time had passed."""
    pid = ground.pid(name)
    os.killpg(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(pid, signal.SIGCONT)


@contextmanager
def replaced(ground: Ground, name: str) -> Iterator[None]:
    """Lost with its node, which comes back: another runs by then, and both do for a while."""
    former = ground.product.children._children[name]
    os.killpg(former.pid, signal.SIGSTOP)
    _begin(ground, name)
    try:
        yield
    finally:
        os.killpg(former.pid, signal.SIGCONT)
        threading.Event().wait(_BESIDE_S)
        former.terminate()
        try:
            former.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(former.pid, signal.SIGKILL)
            former.wait()


@contextmanager
def emptied(ground: Ground, name: str) -> Iterator[None]:
    """Redis loses all that it keeps, at the beginning and at the end."""
    with closing(redis.Redis(unix_socket_path=str(ground.product.place.socket), socket_timeout=10)) as client:
        client.flushall()
        yield
        client.flushall()


@contextmanager
def locked(ground: Ground, name: str) -> Iterator[None]:
    """Somebody else writes to the file, for long."""
    with ground.store.locked():
        yield


@contextmanager
def _server_killed(folder: Path) -> Iterator[None]:
    for process in _family(folder):
        process.kill()
    psutil.wait_procs(_family(folder), timeout=10)
    try:
        yield
    finally:
        postgres.start(folder)


@contextmanager
def _server_stopped(folder: Path) -> Iterator[None]:
    family = _family(folder)
    for process in family:
        process.suspend()
    try:
        yield
    finally:
        for process in family:
            process.resume()


def _family(folder: Path) -> list[psutil.Process]:
    """The server's processes, its first one first."""
    try:
        first = psutil.Process(int((folder / "data/postmaster.pid").read_text().split()[0]))
        return [first, *first.children(recursive=True)]
    except (psutil.NoSuchProcess, FileNotFoundError):
        return []


def _begin(ground: Ground, name: str) -> None:
    """Start it again; what the former one said stays beside."""
    log = ground.product.place.logs / f"{name}.log"
    log.rename(log.with_name(f"{name}.{len(list(log.parent.glob(f'{name}*')))}.log"))
    ground.product.children.start(name, ground.product.command(name))
