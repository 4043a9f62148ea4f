"""Kubeconfig files: what they offer, and a clear sentence for each way in which they don't work."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.cluster.connecting.credentials import ConnectionSettings, load
from engine.cluster.connecting.kubeconfig import Kubeconfig, default_path
from engine.cluster.errors import SettingsError

SECRET = "hunter2-token"
NOWHERE = {"command": "gke-login-nowhere", "apiVersion": "client.authentication.k8s.io/v1"}


def config(folder: Path, name: str = "config", **changed: Any) -> str:
    """A kubeconfig with contexts prod and test, prod the current one."""
    document = {
        "current-context": "prod",
        "contexts": [{"name": one, "context": {"cluster": "c", "user": "u"}} for one in ("prod", "test")],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": SECRET}}],
    }
    path = folder / name
    path.write_text(yaml.safe_dump(document | changed))
    return str(path)


def test_contexts_are_offered_and_the_current_one_is_taken(tmp_path: Path):
    path = config(tmp_path)
    offered = Kubeconfig.at(path).contexts()
    assert (offered.names, offered.current) == (("prod", "test"), "prod")
    assert [Kubeconfig.at(path).entry(name).context for name in ("", "test")] == ["prod", "test"]


def test_several_files_are_one_as_kubectl_merges_them(tmp_path: Path):
    """The first counts for more; one that is not there is passed over."""
    one = config(tmp_path)
    more = {"contexts": [{"name": "more", "context": {"cluster": "c", "user": "u"}}], "current-context": "more"}
    two = config(tmp_path, "two", **more)
    assert Kubeconfig.at(f"{one}:{tmp_path}/none:{two}").contexts().names == ("prod", "test", "more")
    assert Kubeconfig.at(f"{one}:{two}").entry().context == "prod"


def test_without_a_word_it_is_kubectls_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert default_path().endswith("/.kube/config")
    monkeypatch.setenv("KUBECONFIG", "/a:/b")
    assert default_path() == "/a:/b"


@pytest.mark.parametrize(
    ("changed", "context", "want"),
    [
        ({}, "wrong", "has no context wrong. Its contexts are: prod, test"),
        ({"current-context": None}, "", "no current context"),
        ({"users": []}, "prod", "refers to a user that does not exist"),
        ({"clusters": None}, "prod", "refers to a cluster that does not exist"),
        ({"users": [{"name": "u", "user": {"exec": NOWHERE}}]}, "prod",
         "uses the credential plugin gke-login-nowhere, which is not installed here"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_context_is_said(tmp_path: Path, changed: dict[str, Any], context: str, want: str):
    with pytest.raises(SettingsError, match=r"[Cc]ontext") as caught:
        load(ConnectionSettings(kubeconfig_path=config(tmp_path, **changed), context=context))
    assert want in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "want"),
    [(f"{{token: {SECRET}", "is not valid YAML"), ("- a", "is not a kubeconfig"), (None, "does not exist")],
)
def test_a_file_that_is_none_is_told_without_quoting_it(tmp_path: Path, text: str | None, want: str):
    path = tmp_path / "x"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingsError, match=want) as caught:
        Kubeconfig.at(str(path))
    assert SECRET not in str(caught.value)


def test_a_path_that_can_not_be_one_is_a_sentence_too():
    with pytest.raises(SettingsError, match="cannot be read"):
        Kubeconfig.at("a\0b")


def test_the_home_of_nobody_is_no_file():
    """As any other path that leads nowhere."""
    with pytest.raises(SettingsError, match="The kubeconfig ~nobodyhere/x does not exist"):
        Kubeconfig.at("~nobodyhere/x")


def test_only_files_are_opened(tmp_path: Path):
    """A pipe would never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(SettingsError, match="is not a file"):
            Kubeconfig.at(str(path))
