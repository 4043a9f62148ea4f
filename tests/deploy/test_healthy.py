"""deploy/healthy.py against real servers."""

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "healthy.py"


class Answer(BaseHTTPRequestHandler):
    """Answers /N with status N."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def ask(port: int, path: str) -> subprocess.CompletedProcess[str]:
    """Run it as the container does."""
    return subprocess.run([sys.executable, SCRIPT, str(port), path], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("status", "want"), [(200, 0), (301, 0), (400, 0), (500, 1), (503, 1)])
def test_an_answer_below_500_is_alive(port: int, status: int, want: int) -> None:
    """A redirect or a refusal is a sign of life, an error of the server is not."""
    assert ask(port, f"/{status}").returncode == want


def test_silence_is_not_alive(port: int) -> None:
    """Nobody listening is said in words."""
    with HTTPServer(("127.0.0.1", 0), Answer) as free:
        unused = free.server_port
    found = ask(unused, "/200")
    assert (found.returncode, found.stderr.startswith("No response: ")) == (1, True)
