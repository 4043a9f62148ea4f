"""Settings that can't work are refused as the process starts, with what is wrong in them."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (
            {"DATABASE_URL": "sqlite:////nowhere/db.sqlite3"},
            "names the file /nowhere/db.sqlite3, but the folder /nowhere does not exist.",
        ),
        ({"LOCK_WAIT_S": "0"}, "LOCK_WAIT_S is 0. It must be at least 1."),
        ({"DOCS_URL": "javascript:alert(1)"}, "DOCS_URL must start with https:// or http://."),
    ],
    ids=["a folder that is not there", "a wait for ever", "documents that are no web address"],
)
def test_what_is_wrong_is_named(setting: dict[str, str], sentence: str) -> None:
    environment = {
        **os.environ,
        "SECRET_KEY": "x" * 50,
        "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
        **setting,
    }
    command = [sys.executable, "-c", "import django; django.setup()"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert sentence in ran.stderr
