"""What people steer: the command line, the control paths, and errors that say where."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from day_engine import DEMO
from life import World, job, node, pod, replica_set

from engine.formats.yaml.manifests import ManifestError
from simulator.clock import Pace
from simulator.cluster import SimulatedCluster
from simulator.script.surge import NotNowError
from tests.waiting import PATIENCE_S

SCRIPT = """
round: 60s
steps:
  - {at: 5s, scale: default/web, replicas: 2, say: Up.}
  - {at: 10s, run: default/work, count: 2, at-most: 3}
"""


def work() -> dict[str, Any]:
    """Return a Job that is a template."""
    return job("work", annotations={"simulator.scheduler-admin.io/template": "true"}, ttlSecondsAfterFinished=1)


def scripted(tmp_path: Path, text: str = SCRIPT) -> World:
    """Return a world that plays a script."""
    path = tmp_path / "day.yaml"
    path.write_text(text)
    return World(node(), replica_set("web", 1), work(), script=path)


async def steer(
    token: str | None, calls: list[tuple[str, str, Any]], *, known: str | None = "secret", **headers: str
) -> list[tuple[int, dict[str, Any]]]:
    """Serve the demo and return what each call of a path answers; ``known``: the simulator's own token."""
    cluster = SimulatedCluster([DEMO / "manifests"], DEMO / "day.yaml", token=known)
    await cluster.start()
    address = await cluster.serve()
    try:
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        answers = []
        async with aiohttp.ClientSession(headers=headers) as session:
            for method, path, body in calls:
                async with session.request(method, f"{address}{path}", json=body) as response:
                    answers.append((response.status, await response.json()))
        return answers
    finally:
        await cluster.stop()


def test_the_control_paths_answer_beside_the_api():
    """State, speed and reset over HTTP, the Kubernetes API at the same address, and errors as sentences."""
    calls = [
        ("GET", "/simulator/state", None),
        ("POST", "/simulator/speed", {"speed": 2.0}),
        ("POST", "/simulator/speed", {"speed": 1000}),
        ("POST", "/simulator/speed", {"fast": True}),
        ("POST", "/simulator/reset", None),
        ("GET", "/simulator/reset", None),
        ("GET", "/simulator/nowhere", None),
        ("GET", "/api/v1/nodes", None),
    ]
    answers = asyncio.run(steer("secret", calls))
    assert [code for code, _ in answers] == [200, 200, 400, 400, 200, 405, 404, 200]
    assert answers[0][1]["counts"]["nodes"] == 9
    assert answers[0][1]["script"]["round"] == 1
    assert (answers[0][1]["speed"], answers[1][1]["speed"]) == (1.0, 2.0)
    assert answers[2][1]["message"] == "The speed must be from 0.1 to 20."
    assert len(answers[7][1]["items"]) == 9


def test_the_control_paths_need_the_token():
    """Without the token, or with a wrong one, nothing is told and nothing is done."""
    for token in (None, "wrong"):
        answers = asyncio.run(steer(token, [("GET", "/simulator/state", None), ("POST", "/simulator/reset", None)]))
        assert [code for code, _ in answers] == [401, 401]


def test_a_page_makes_no_browser_steer_it():
    """Where there is no token; what is only looked at it may."""
    calls = [("POST", "/simulator/reset", None), ("POST", "/simulator/surge", None), ("GET", "/simulator/state", None)]
    answers = asyncio.run(steer(None, calls, known=None, Origin="https://evil.example"))
    assert [code for code, _ in answers] == [403, 403, 200]
    assert [code for code, _ in asyncio.run(steer(None, calls[:1], known=None))] == [200]


def test_a_surge_that_can_not_be_arranged_says_why(tmp_path):
    """Without a script, while a workload waits, at its limit, or when there is room, the sentence says so."""
    with pytest.raises(NotNowError, match="No script is running"):
        World(node()).cluster.surge()
    surges = "surges:\n  - {scale: default/web, up-to: 4, takes-from: {default/crowd: 0}}\n"
    path = tmp_path / "day.yaml"
    path.write_text(SCRIPT.replace("at: 5s", "at: 30s").replace("replicas: 2", "replicas: 0") + surges)
    world = World(node(cpu="3"), replica_set("web", 1), replica_set("crowd", 1), work(), script=path)
    with pytest.raises(NotNowError, match="default/web still has pending pods"):
        world.cluster.surge()
    world.clock.advance(1)
    with pytest.raises(NotNowError, match="would fit without a preemption"):
        world.cluster.surge()
    world.create(pod("filler"))
    done = world.cluster.surge()
    assert done["replicas"] == 2
    world.clock.advance(25)
    with pytest.raises(NotNowError, match="Capacity is about to become free without a preemption"):
        world.cluster.surge()
    assert world.pod(done["ask"]["name"])["spec"].get("nodeName") is None


def test_a_script_runs_round_after_round(tmp_path):
    """Each step happens at its time in every round, and Jobs made from the template get names of their own."""
    world = scripted(tmp_path)
    world.clock.advance(4.9)
    assert world.store.get("replicasets.apps", "default", "web")["spec"]["replicas"] == 1
    world.clock.advance(5.2)
    assert world.store.get("replicasets.apps", "default", "web")["spec"]["replicas"] == 2
    assert [item["metadata"]["name"] for item in world.store.list("jobs.batch")] == ["work-1-1", "work-1-2"]
    assert world.cluster.state()["script"]["said"] == "Up."
    world.clock.advance(40)
    assert world.store.list("jobs.batch") == []
    world.clock.advance(20.5)
    assert [item["metadata"]["name"] for item in world.store.list("jobs.batch")] == ["work-2-3", "work-2-4"]


def test_a_change_of_speed_moves_the_steps_that_are_to_come(tmp_path):
    """At ten times the speed a step that is five seconds away comes after half a second."""
    world = scripted(tmp_path)
    world.cluster.pace.set_speed(10)
    world.clock.advance(0.51)
    assert world.store.get("replicasets.apps", "default", "web")["spec"]["replicas"] == 2


def test_the_day_goes_on_when_someone_deletes_what_it_is_about(tmp_path):
    """A step whose ReplicaSet is gone is passed over."""
    world = scripted(tmp_path)
    world.store.delete("replicasets.apps", "default", "web")
    world.clock.advance(11)
    assert len(world.store.list("jobs.batch")) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("steps: []\n", "line 1: round is missing"),
        (
            "round: 1m\nsteps:\n  - {at: 1s, scale: default/none, replicas: 1}\n",
            "line 3: the manifests contain no ReplicaSet",
        ),
        (
            "round: 1m\nsteps:\n  - {at: 2m, scale: default/web, replicas: 1}\n",
            "line 3: at 2m is after the end of the round",
        ),
        ("round: 1m\nsteps:\n  - {at: 1s, scale: default/web, replicas: -1}\n", "replicas must be a whole number"),
        ("round: soon\nsteps: []\n", "round: soon is not a duration such as 40s or 1m30s"),
        ("round: 1m\nsteps:\n  - {at: 1s, run: default/web}\n", "the manifests contain no Job template default/web"),
        ("round: 1m\nstep: []\nsteps: []\n", "unknown field step"),
        ("round: [\n", "not valid YAML"),
    ],
)
def test_a_bad_script_is_refused_with_its_line(tmp_path, text, sentence):
    """The message names the file, the line and what is wrong there."""
    with pytest.raises(ManifestError) as error:
        scripted(tmp_path, text)
    assert sentence in str(error.value)
    assert str(tmp_path / "day.yaml") in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: Pod\n",
            "(document 2): the object has no apiVersion",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n", "line 1 (document 1): Pod a can't be created"),
        ("apiVersion: v1\nkind: Gadget\nmetadata: {name: a}\n", "v1 Gadget is not a kind that the simulator serves"),
        ("- 1\n", "this is not a Kubernetes object but a list"),
        ("a: [\n", "not valid YAML"),
    ],
)
def test_a_bad_manifest_is_refused_with_its_place(tmp_path, text, sentence):
    """The message names the file, the line, the document and what is wrong with it."""
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ManifestError) as error:
        SimulatedCluster([tmp_path], clock=World().clock).begin()
    assert sentence in str(error.value)
    assert "bad.yaml" in str(error.value)


def test_what_others_rest_on_is_created_first(tmp_path):
    """A pod may stand before its namespace, its class and its node."""
    (tmp_path / "all.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\n"
        "spec: {priorityClassName: soon, containers: [{name: c, image: i}]}\n---\n"
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: soon}\nvalue: 5\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
    )
    cluster = SimulatedCluster([tmp_path], clock=World().clock)
    cluster.begin()
    assert cluster.store.get("pods", "team", "p")["spec"]["priority"] == 5


def test_the_pace_counts_on_while_its_speed_changes():
    """Ten seconds at speed one and ten at speed three are forty script seconds."""
    clock = World().clock
    pace = Pace(clock)
    assert pace.elapsed() == 0
    clock.advance(10)
    pace.set_speed(3)
    clock.advance(10)
    assert pace.elapsed() == pytest.approx(40)


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start the command line."""
    command = [sys.executable, "-m", "simulator", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, cwd=DEMO.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_told_to_end(tmp_path, number):
    """It prints its address, writes a kubeconfig that only its owner reads, and ends with 0."""
    config = tmp_path / "kubeconfig"
    process = start("--manifests", "demo/manifests", "--kubeconfig", str(config), "--token", "t")
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    written = json.loads(config.read_text())
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert address.startswith("http://127.0.0.1:")
    assert written["clusters"][0]["cluster"]["server"] == address
    assert config.stat().st_mode & 0o777 == 0o600
    assert (process.returncode, errors) == (0, "")


def test_the_command_says_in_a_sentence_what_is_wrong(tmp_path):
    """A port in use and a directory that does not exist end with 1 and one line."""
    first = start("--manifests", "demo/manifests")
    assert first.stdout is not None
    port = first.stdout.readline().strip().rpartition(":")[2]
    try:
        for arguments, sentence in (
            (("--port", port), f"The simulator cannot listen on 127.0.0.1:{port}: Address already in use.\n"),
            (("--manifests", str(tmp_path / "none")), f"{tmp_path / 'none'} does not exist.\n"),
        ):
            process = start(*arguments)
            _, errors = process.communicate(timeout=PATIENCE_S)
            assert (process.returncode, errors) == (1, sentence)
    finally:
        first.terminate()
        first.communicate(timeout=PATIENCE_S)
