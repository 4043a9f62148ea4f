"""Clients that generators make of the OpenAPI document do on a running site what integrators need."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.queues.models import Revision
from tests.api import builders
from tests.api.document import made
from tests.api.sending import YAML
from tests.generators.tools import node_tools, python_tool, run

pytestmark = pytest.mark.suite("generators")
SCRIPTS = Path(__file__).with_name("clients")
DELAYS = {"openapi-python-client": "11s", "openapi-generator": "12s", "openapi-typescript": "13s"}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document, as the site serves it."""
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_text(json.dumps(made()), encoding="utf-8")
    return path


@pytest.fixture
def site(live_server: Any, settings: Any) -> dict[str, str]:
    """A site with a cluster and a decision, and what an admin's client is told of it."""
    settings.SECURE_SSL_REDIRECT = False
    cluster = builders.cluster()
    builders.decision(cluster, ask=builders.blue_pod("asks"), victims=(builders.red_pod(),))
    scopes = ["tree:write", "site:administer"]
    _token, plaintext = create_token(user=builders.user("ci", role=User.Role.ADMIN), name="ci", scopes=scopes)
    return {"SITE": live_server.url, "TOKEN": plaintext, "YAML": YAML}


def check(name: str, printed: str) -> None:
    """Hold what a client saw against what it did, and against what the site has of it."""
    problem = "urn:scheduler-admin:problem:"
    assert json.loads(printed) == {
        "clusters": ["prod"],
        "decisions": ["preempt"],
        "token": ["sa_", True],
        "tokens": True,
        "tenant": [name, name],
        "user": [name, f"{name}@example.com", "tenant"],
        "ruled out": [f"{problem}ruled-out", True],
        "tree": [True, "root.red.batch", DELAYS[name]],
        "late": [f"{problem}precondition-failed", 412],
        "made": [1, f"/v1/hierarchies/{name}/tree"],
        "lint": True,
        "problem": [f"{problem}not-found", 404],
    }
    assert Tenant.objects.filter(name=name).exists()
    assert User.objects.get(username=name).email == f"{name}@example.com"
    assert Revision.objects.filter(hierarchy__name=name).count() == 1
    published = Revision.objects.filter(hierarchy__name="prod-tree").order_by("-number")[0]
    assert f'"delay_ms":{DELAYS[name].rstrip("s")}000' in published.document


def test_redocly_finds_nothing(document: Path) -> None:
    """Neither errors nor warnings."""
    found = run("npx", "--no-install", "redocly", "lint", document, "--format=json", cwd=node_tools())
    assert json.loads(found[found.index("{") :])["problems"] == []


def test_openapi_python_client_makes_a_client(document: Path, site: dict[str, str], tmp_path: Path) -> None:
    """Of another name than our own, beside which it is installed."""
    programs, package = python_tool("openapi-python-client"), tmp_path / "package"
    program, python = programs / "openapi-python-client", programs / "python"
    path = f"{programs}:/usr/bin:/bin"  # where it finds ruff
    run(program, "generate", "--path", document, "--output-path", package, "--meta", "setup", PATH=path)
    assert (package / "scheduler_admin_rest_api_client").is_dir()
    check("openapi-python-client", use(python, package, "with_openapi_python_client.py", site, "openapi-python-client"))


def test_openapi_generator_makes_a_client_in_python(document: Path, site: dict[str, str], tmp_path: Path) -> None:
    """With models that read every answer."""
    programs, package = python_tool("openapi-generator"), tmp_path / "package"
    named = "--additional-properties=packageName=scheduler_admin_generated"
    run(programs / "openapi-generator-cli", "generate", "-i", document, "-g", "python", "-o", package, named)
    check(
        "openapi-generator", use(programs / "python", package, "with_openapi_generator.py", site, "openapi-generator")
    )


def use(python: Path, package: Path, script: str, site: dict[str, str], name: str) -> str:
    """Install a generated package as anybody would, and run a script with it. Returns what it prints."""
    target = package.with_name("installed")
    run(python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--target", target, package)
    return run(python, SCRIPTS / script, **site, DELAY=DELAYS[name], PYTHONPATH=str(target))


def test_openapi_typescript_makes_types_that_fit(document: Path, site: dict[str, str], tmp_path: Path) -> None:
    """The client is compiled with strict types, and run."""
    tools, name = node_tools(), "openapi-typescript"
    shutil.copy(SCRIPTS / "with-openapi-typescript.ts", tmp_path / "client.ts")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(tools / "node_modules")
    programs = tools / "node_modules" / ".bin"
    run(programs / "openapi-typescript", document, "-o", tmp_path / "document.d.ts")
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck")
    run(programs / "tsc", *options, "client.ts", cwd=tmp_path)
    check(name, run("node", "client.js", cwd=tmp_path, **site, DELAY=DELAYS[name]))


def test_every_pattern_is_one_to_javascript(document: Path) -> None:
    """Whose regular expressions JSON schema has."""
    node_tools()
    script = """
      const seen = new Set();
      JSON.parse(require("fs").readFileSync(process.argv[1]), (key, value) => {
        if (key === "pattern" && typeof value === "string") seen.add(new RegExp(value, "u").source);
        return value;
      });
      console.log(seen.size);
    """
    assert int(run("node", "-e", script, document)) > 5
