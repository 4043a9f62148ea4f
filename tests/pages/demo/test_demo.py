"""The demo's buttons: only in the demo, only for those who operate, and errors are sentences."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.clusters.models import Cluster

pytestmark = pytest.mark.django_db


class Simulator(BaseHTTPRequestHandler):
    """Writes down what it is asked."""

    asked: list[tuple[str, dict[str, Any], str]] = []
    status = 200
    answer = b'{"message": "14 pods arrive in training."}'

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body, self.headers["Authorization"]))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def simulator(settings: Any) -> Iterator[type[Simulator]]:
    server = HTTPServer(("127.0.0.1", 0), Simulator)
    Thread(target=server.serve_forever, daemon=True).start()
    settings.SIMULATOR_URL = f"http://127.0.0.1:{server.server_port}"
    settings.SIMULATOR_CLUSTER = "demo"
    settings.SIMULATOR_TOKEN = "secret"
    Simulator.asked.clear()
    Simulator.status, Simulator.answer = 200, b'{"message": "14 pods arrive in training."}'
    yield Simulator
    server.shutdown()
    server.server_close()


def test_a_preemption_is_made_to_happen(otto: Client, demo: Cluster, simulator: type[Simulator]) -> None:
    """The simulator is asked with its token, and its own words are shown."""
    html = otto.post("/clusters/demo/demo/surge/", follow=True).content.decode()
    assert simulator.asked == [("/simulator/surge", {}, "Bearer secret")]
    assert "14 pods arrive in training." in html


def test_speed_and_reset(otto: Client, demo: Cluster, simulator: type[Simulator]) -> None:
    """Both go to the simulator; a speed that is not offered goes nowhere."""
    otto.post("/clusters/demo/demo/speed/", {"speed": "0.5"})
    otto.post("/clusters/demo/demo/reset/")
    answer = otto.post("/clusters/demo/demo/speed/", {"speed": "1000"}, follow=True)
    assert [(path, body) for path, body, _ in simulator.asked] == [
        ("/simulator/speed", {"speed": 0.5}),
        ("/simulator/reset", {}),
    ]
    assert "Select one of the listed speeds." in answer.content.decode()


def test_a_refusal_is_a_sentence(otto: Client, demo: Cluster, simulator: type[Simulator]) -> None:
    """The simulator's own, which says what to do next; else one with the status that it answered."""
    simulator.status, simulator.answer = 409, b'{"message": "Try again in 5 seconds."}'
    assert "Try again in 5 seconds." in otto.post("/clusters/demo/demo/surge/", follow=True).content.decode()
    simulator.status, simulator.answer = 403, b"<h1>no</h1>"
    assert (
        "rejected the request with status 403" in otto.post("/clusters/demo/demo/reset/", follow=True).content.decode()
    )


def test_silence_is_a_sentence(otto: Client, demo: Cluster, settings: Any) -> None:
    """Nothing listens on port 9."""
    settings.SIMULATOR_URL, settings.SIMULATOR_CLUSTER = "http://127.0.0.1:9", "demo"
    assert "does not respond" in otto.post("/clusters/demo/demo/surge/", follow=True).content.decode()


def test_only_those_who_operate(audrey: Client, tess: Client, demo: Cluster, simulator: type[Simulator]) -> None:
    """Others neither see the buttons nor reach what they do."""
    for client in (audrey, tess):
        assert "Trigger a preemption" not in client.get("/clusters/demo/queues/").content.decode()
        assert client.post("/clusters/demo/demo/surge/").status_code == 404
    assert simulator.asked == []


def test_only_in_the_demo(otto: Client, demo: Cluster, simulator: type[Simulator], settings: Any) -> None:
    """A real cluster has no such buttons."""
    settings.SIMULATOR_CLUSTER = "another"
    assert "Trigger a preemption" not in otto.get("/clusters/demo/queues/").content.decode()
    assert otto.post("/clusters/demo/demo/surge/").status_code == 404
