"""Django's admin site is off unless it is asked for."""

import os
import subprocess
import sys

import pytest
from django.test import Client

from scheduler_admin.demo.environment import BASE


@pytest.mark.django_db
def test_the_admin_site_is_off(client: Client) -> None:
    """Nothing answers there."""
    assert client.get("/admin/").status_code == 404


def test_the_admin_site_passes_its_checks_when_it_is_on() -> None:
    """What repairs need is registered and in order."""
    environment = {**os.environ, "ADMIN_SITE": "1", "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=BASE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
