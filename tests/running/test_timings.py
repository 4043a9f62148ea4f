"""What tests take is recorded, and the report names the slowest."""

from pathlib import Path

import pytest

from tests.runner.timings import Timings, read, report

pytest_plugins = ["pytester"]

TESTS = """
import subprocess, sys, pytest

@pytest.fixture
def slow():
    return subprocess.run([sys.executable, "-c", ""], check=True)

def test_one(slow):
    pass

def test_two():
    pass
"""


def test_a_run_is_written_down(pytester: pytest.Pytester) -> None:
    """Each test with its phases, each fixture, collection, and how many processes were started."""
    pytester.makepyfile(TESTS)
    file = pytester.path / "times" / "one.json"
    pytester.runpytest_inprocess("-p", "tests.runner.timings", f"--timings={file}", "-p", "no:django").assert_outcomes(
        passed=2
    )
    (found,) = read(file.parent)
    assert {name.split("::")[1] for name in found.tests} == {"test_one", "test_two"}
    assert all(set(phases) == {"setup", "call", "teardown", "cpu", "children"} for phases in found.tests.values())
    assert [name.split()[0] for name in found.fixtures] == ["slow"]
    assert found.started == 1
    assert sum(phases["children"] for phases in found.tests.values()) > 0
    assert found.collection_s > 0


def test_the_report_adds_up_processes(tmp_path: Path) -> None:
    """Tests, files and fixtures, the slowest first; time in which a test did nothing itself is waiting."""
    phases = {"setup": 1.0, "call": 2.0, "teardown": 0.0, "cpu": 0.5, "children": 0.25}
    quick = {"setup": 0.0, "call": 1.0, "teardown": 0.0, "cpu": 1.0, "children": 0.0}
    one = Timings(5.0, 2, {"a.py::slow": phases, "a.py::quick": quick}, {"django_db_setup (tests)": 1.0})
    other = Timings(4.0, 1, {"b.py::quick": quick}, {"django_db_setup (tests)": 2.0, "x (b)": 0.5})
    lines = list(report([one, other]))
    assert lines[0] == "3 tests in 2 processes, which started 3 others"
    totals = dict(reversed(line.strip().split(" s  ")) for line in lines[1:9])
    assert totals == {
        "collection": "9.0",
        "setup": "1.0",
        "call": "4.0",
        "teardown": "0.0",
        "of it databases": "3.0",
        "of it the tests' own work": "2.5",
        "beside it, work of the processes they started": "0.2",
        "of it waiting for others": "2.5",
    }
    slowest = [line.split()[-1] for line in lines[10:13]]
    assert slowest[0] == "a.py::slow"
    assert "     4.0 s  a.py" in lines
    assert lines[-2:] == ["     3.0 s  django_db_setup (tests)", "     0.5 s  x (b)"]
