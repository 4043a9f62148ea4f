"""Settings of a process that watches clusters and runs passes."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from threading import Event, Thread, active_count

import pytest

from engine.cluster.watching.runtime import tune_runtime


@pytest.fixture(autouse=True)
def untuned() -> Iterator[None]:
    """What other tests run with comes back."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


def test_a_process_of_few_threads_hands_the_interpreter_on_at_once() -> None:
    """So that a watcher keeps up while a pass runs. In a process of its own, as other tests leave threads."""
    program = "import sys; from engine.cluster.watching.runtime import tune_runtime as tune; tune()"
    printed = subprocess.run(
        [sys.executable, "-c", f"{program}; print(sys.getswitchinterval())"], capture_output=True, text=True, check=True
    )
    assert float(printed.stdout) == pytest.approx(0.0005)


def test_threads_that_wait_ask_for_the_interpreter_so_often_together_however_many_they_are() -> None:
    """Else hundreds of them would leave no time for work."""
    ended = Event()
    threads = [Thread(target=ended.wait) for _ in range(200)]
    for thread in threads:
        thread.start()
    tune_runtime()
    asked_per_s = active_count() / sys.getswitchinterval()
    ended.set()
    for thread in threads:
        thread.join()
    assert asked_per_s <= 51_000
