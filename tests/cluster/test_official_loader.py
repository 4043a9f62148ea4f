"""Why credentials are loaded, and requests repeated, by code of our own: what the official client does instead.

Each test has the official client's behavior first, so that it fails once that is better, and ours is to be looked at
again. docs/official-client.md has these as reports.
"""

import logging
import os
import threading
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient, Configuration, CoordinationV1Api, V1Lease
from kubernetes.config import load_kube_config

from engine.cluster.connecting import plugins
from engine.cluster.connecting.credentials import ConnectionSettings, load
from engine.cluster.errors import SettingsError
from tests.cluster.certificates import authority, issued
from tests.cluster.doubles import scripted
from tests.cluster.test_connection import kubeconfig
from tests.cluster.test_credentials import SECRET, program
from tests.waiting import PATIENCE_S


def settings(folder: Path, **user: Any) -> ConnectionSettings:
    """Settings with a kubeconfig of one user in a file."""
    path = folder / "config"
    path.write_text(kubeconfig("https://c.invalid", **user))
    return ConnectionSettings(kubeconfig_path=str(path))


def officially(of: ConnectionSettings) -> Configuration:
    """Load the same kubeconfig with the official client."""
    found = Configuration()
    load_kube_config(of.kubeconfig_path, client_configuration=found)
    return found


def test_a_program_that_never_ends_holds_the_official_client_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ours is given up after a limit."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    of = settings(tmp_path, **program(tmp_path, f"open({str(pipe)!r}).read()"))
    waiting = threading.Thread(target=officially, args=[of], daemon=True)
    waiting.start()
    monkeypatch.setattr(plugins, "LIMIT_S", 0.5)
    with pytest.raises(SettingsError, match=r"0\.5 s"):
        load(of)
    assert waiting.is_alive()
    pipe.write_text("")  # which ends the program
    waiting.join(PATIENCE_S)


def test_a_program_that_fails_lets_the_official_client_go_on_as_nobody(tmp_path: Path):
    """Ours says what went wrong; requests as system:anonymous would be refused for a reason that misleads."""
    of = settings(tmp_path, **program(tmp_path, "sys.exit(3)"))
    assert officially(of).api_key == {}
    with pytest.raises(SettingsError):
        load(of)


def test_what_a_program_says_is_logged_by_the_official_client(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Programs print tokens when they are asked for more words; ours quotes nothing."""
    of = settings(tmp_path, **program(tmp_path, f"sys.stderr.write({SECRET!r}); sys.exit(3)"))
    with caplog.at_level(logging.DEBUG):
        officially(of)
        assert SECRET in caplog.text
        caplog.clear()
        with pytest.raises(SettingsError) as error:
            load(of)
    assert SECRET not in caplog.text + str(error.value)


def test_the_official_client_writes_keys_to_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ours keeps them in memory, where no backup finds them, and no killed process leaves them."""
    kept = tmp_path / "temporary"
    kept.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(kept))
    certificate, key = (pem.encode() for pem in issued(authority(), "ada"))
    of = settings(
        tmp_path,
        **{"client-certificate-data": b64encode(certificate).decode(), "client-key-data": b64encode(key).decode()},
    )
    assert load(of).key.encode() == key
    assert not any(kept.iterdir())
    found = officially(of)
    assert Path(found.key_file or "").read_bytes() == key
    assert Path(found.key_file or "").parent == kept


def test_the_official_client_sends_a_write_again():
    """A Lease would be renewed after its hold, by a request that had been given up."""
    with scripted(lambda _asked, answer: answer.cut()) as server:
        own = CoordinationV1Api(ApiClient(Configuration(host=server.address)))
        with pytest.raises(Exception, match="Max retries"):
            own.replace_namespaced_lease("a", "b", V1Lease())
    assert len(server.asked) == 4  # ours: test_a_write_whose_answer_is_cut_off_is_never_sent_twice
