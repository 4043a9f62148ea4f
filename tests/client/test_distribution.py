"""The command line as its own distribution: what a wheel, a zip and a source archive contain, and what each says."""

import ast
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from scheduler_admin_client import __version__
from tests.client.conftest import Run
from tests.deploy import release
from tests.waiting import PATIENCE_S

CLIENT = Path(__file__).resolve().parents[2] / "scheduler_admin_client"
PROJECT = tomllib.loads((CLIENT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHINESE = "scheduler_admin_client/locale/zh_Hans/LC_MESSAGES/scheduler_admin_client.mo"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built without the network."""
    folder = tmp_path_factory.mktemp("dist")
    release.build_client(folder, isolated=False)
    return folder


def environment(**more: str) -> dict[str, str]:
    """Only what a program needs, and what is given."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **more}


def said(program: list[str | Path], **more: str) -> str:
    """Return what a program prints in a folder that is not the checkout."""
    done = subprocess.run(
        program, cwd="/", env=environment(**more), capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    return done.stdout


def test_it_needs_three_packages_alone() -> None:
    assert [one.partition(">=")[0] for one in PROJECT["dependencies"]] == ["click", "pyyaml", "urllib3"]
    assert PROJECT["requires-python"] == ">=3.9"


@pytest.mark.parametrize("path", sorted(CLIENT.rglob("*.py")), ids=lambda path: path.name)
def test_every_module_can_be_read_by_python_3_9(path: Path) -> None:
    """Its syntax is of 3.9, and annotations that are not are never evaluated; ruff holds the rest."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 9))
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) for node in ast.walk(tree)):
        assert "from __future__ import annotations\n" in source


def test_the_wheel_has_its_modules_its_schema_and_its_catalogs_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"scheduler_admin_client-{__version__}-py3-none-any.whl"
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    modules = {f"scheduler_admin_client/{path.relative_to(CLIENT)}" for path in CLIENT.rglob("*.py")}
    modules -= {"scheduler_admin_client/setup.py"}
    others = {f"scheduler_admin_client/{name}" for name in ("py.typed", "objects.schema.json")}
    assert set(names) == {*modules, CHINESE, *others}


def test_building_leaves_nothing_in_the_checkout(built: Path) -> None:
    assert list(CLIENT.glob("*.egg-info")) == []
    assert not (CLIENT / "build").exists()


def test_the_installed_command_speaks_the_language_of_the_environment(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", tmp_path, wheel]
    subprocess.run(install, check=True, capture_output=True, timeout=PATIENCE_S)
    command = [tmp_path / "bin" / "scheduler-admin"]
    assert said([*command, "--version"], PYTHONPATH=str(tmp_path)) == f"scheduler-admin-client {__version__}\n"
    assert "发布" in said([*command, "apply", "--help"], PYTHONPATH=str(tmp_path), LANG="zh_CN.UTF-8")
    assert "Publish the document" in said([*command, "apply", "--help"], PYTHONPATH=str(tmp_path), LANG="C.UTF-8")


def test_one_file_is_enough_to_run_it(built: Path, tmp_path: Path) -> None:
    """The packages that it needs are in it, and its catalogs are found there; its exit code is that of the command."""
    (wheel,) = built.glob("*.whl")
    program = tmp_path / "scheduler-admin.pyz"
    packages = ["click", "urllib3", "yaml"]  # those of this environment, as the network is not needed for them
    release.zip_application(program, tmp_path / "stage", wheel, release.copied(packages))
    assert said([sys.executable, "-I", program, "--version"]) == f"scheduler-admin-client {__version__}\n"
    assert "发布" in said([sys.executable, "-I", program, "apply", "--help"], LANG="zh_CN.UTF-8")
    failed = subprocess.run([program, "export", "x"], cwd="/", env=environment(), capture_output=True, check=False)
    assert failed.returncode == 1


def test_help_needs_neither_a_site_nor_a_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDULER_ADMIN_URL", raising=False)
    monkeypatch.delenv("SCHEDULER_ADMIN_TOKEN", raising=False)
    assert run("--version") == (0, f"scheduler-admin-client {__version__}\n", "")
    assert "--fail-on" in run("plan", "--help").out
    assert run("export", "prod-tree").code == 1
