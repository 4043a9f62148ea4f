"""The settings, read in the environment that the chart gives to each process."""

import os
import subprocess
import sys
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.deploy.helm import CHART, PROCESSES, WORKERS, Manifest, environment, pods

pytestmark = pytest.mark.helm

SECRETS = {
    "CREDENTIALS_KEY": Fernet.generate_key().decode(),
    "DATABASE_URL": "postgres://a:b@database/c",
    "DATABASE_REPLICA_URL": "postgres://a:b@replica/c",
    "REDIS_PASSWORD": "0a1b2c3d",
}
"""The other ones may be any text of some length."""
ASKED = ("JOURNAL_MB", "REDIS_URL", "METRICS_LISTEN", "ALLOWED_HOSTS", "EMAIL_USE_TLS", "OIDC_ISSUER", "INSECURE_HTTP")


def given(objects: list[Manifest], pod: Manifest) -> dict[str, str]:
    """What Kubernetes makes of it, the optional secrets too; the image adds where its programs are."""
    found = {
        name: SECRETS.get(name, "a text of some length") if isinstance(value, dict) else value
        for name, value in environment(objects, pod).items()
    }
    return {name: text.replace("$(REDIS_PASSWORD)", SECRETS["REDIS_PASSWORD"]) for name, text in found.items()}


def read(variables: dict[str, str]) -> dict[str, Any]:
    """What settings.py makes of them. It ends with the reason where it can't."""
    program = f"from scheduler_admin import settings; print({{name: getattr(settings, name) for name in {ASKED}}})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], **variables},
        cwd=CHART.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = eval(done.stdout)
    return found


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_the_settings_take_it(name: str, full: list[Manifest]) -> None:
    """Everything that can be set, is: nothing is refused, and it arrives as it was meant."""
    found = read(given(full, pods(full)[name]))
    assert found["METRICS_LISTEN"] == (("0.0.0.0", 9101) if name in WORKERS else None)
    assert bool(found["OIDC_ISSUER"]) is (name == "web")
    if name != "migrate":
        assert (found["JOURNAL_MB"], found["EMAIL_USE_TLS"], found["INSECURE_HTTP"]) == (2_000_000, True, False)
        assert found["REDIS_URL"] == "redis://:0a1b2c3d@prod-scheduler-admin-redis:6379/0"


def test_little_is_enough_for_web(minimal: list[Manifest]) -> None:
    """The site answers to its own name."""
    assert read(given(minimal, pods(minimal)["web"]))["ALLOWED_HOSTS"] == ["scheduler-admin.example.com"]
