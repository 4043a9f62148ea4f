"""deploy/chart as helm renders it, held against the settings, docker-compose.yml and deploy/."""

import json
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from tests.deploy import helm
from tests.deploy.conftest import MINIMAL, every_setting
from tests.deploy.helm import (
    CHART,
    NAME,
    NAMESPACE,
    PROCESSES,
    WORKERS,
    Manifest,
    Values,
    container,
    environment,
    merged,
    named,
    pods,
    selects,
)
from tests.deploy.test_compose import variables

pytestmark = [pytest.mark.helm, pytest.mark.usefixtures("built_helm")]

BASE = CHART.parents[1]
NOT_FOR_CLUSTERS = {"DEBUG", "FAULT_AT", "KUBECONFIG_PLACES", "REVISION", "STATIC_ROOT"}
"""For the machine of who works on this, for tests of crashes, and what the image sets."""
MADE_BY_THE_CHART = {"ALIVE_FILE", "ENGINE_SERVICE_ACCOUNT", "METRICS_LISTEN"}


@pytest.mark.parametrize("values", ["minimal_values", "full_values"])
def test_lint_finds_nothing(request: pytest.FixtureRequest, values: str) -> None:
    """Neither an error nor a warning."""
    done = helm.helm("lint", "--strict", CHART, values=request.getfixturevalue(values))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"image": {"repository": ""}}, "image/repository"),
        ({"secret": {"name": ""}}, "secret/name"),
        ({"settings": {"SITE_URL": ""}}, "settings/SITE_URL"),
        ({"settings": {"SITE_URL": "https://name:password@example.com"}}, "settings/SITE_URL"),
        ({"settings": {"SITE_NAME": "ours"}}, "SITE_NAME"),
        ({"settings": {"SECRET_KEY": "inline"}}, "SECRET_KEY"),
        ({"settings": {"DATABASE_URL": "postgres://a:inline@b/c"}}, "DATABASE_URL"),
        ({"settings": {"JOURNAL_MB": "many"}}, "settings/JOURNAL_MB"),
        ({"secret": {"from": {"SECRET_KEY": "inline"}}}, "secret/from/SECRET_KEY"),
        ({"secret": {"from": {"SECRET_KEY": {"value": "inline"}}}}, "secret/from/SECRET_KEY"),
        ({"redis": {"password": "inline"}}, "password"),
        ({"rbac": {"everything": True}}, "everything"),
        ({"web": {"replicas": 0}}, "web/replicas"),
    ],
)
def test_what_is_wrong_is_named(wrong: Values, told: str) -> None:
    """Unknown names, secrets in the values, and what is missing: nothing is rendered."""
    done = helm.template(merged(MINIMAL, wrong))
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr


def test_settings_and_secrets_are_all_variables() -> None:
    """The schema names what settings.py reads, and nothing else."""
    schema = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))["properties"]
    secrets = set(schema["secret"]["properties"]["from"]["properties"])
    settings = set(schema["settings"]["properties"])
    assert not settings & secrets
    assert {name for name in settings if re.search("PASSWORD|TOKEN$|SECRET|_KEY", name)} == set()
    assert settings | secrets - {"REDIS_PASSWORD"} | NOT_FOR_CLUSTERS | MADE_BY_THE_CHART == variables()


def test_each_process_is_given_what_it_reads(full: list[Manifest]) -> None:
    """Together all variables, as the settings understand them; secrets by reference alone."""
    given = {name: environment(full, pod) for name, pod in pods(full).items() if name in PROCESSES}
    assert set(given) == PROCESSES
    further = {"REDIS_PASSWORD", "SSL_CERT_FILE"}
    assert set().union(*given.values()) == variables() - NOT_FOR_CLUSTERS | further
    assert {name: given["web"][name] for name in ("JOURNAL_MB", "EMAIL_USE_TLS", "EMAIL_PORT")} == {
        "JOURNAL_MB": "2000000",
        "EMAIL_USE_TLS": "1",
        "EMAIL_PORT": "7",
    }
    for name, variables_of in given.items():
        by_reference = {key for key, value in variables_of.items() if isinstance(value, dict)}
        assert {key for key in variables_of if key not in every_setting()} - by_reference <= {
            "REDIS_URL",
            "SSL_CERT_FILE",
            *MADE_BY_THE_CHART,
        }, name
    secrets = {"SECRET_KEY", "SECRET_KEY_FALLBACKS", "CREDENTIALS_KEY", "DATABASE_URL"}
    assert set(given["migrate"]) == {*secrets, "SSL_CERT_FILE"}
    assert given["web"]["DATABASE_URL"] == {"secretKeyRef": {"name": "database-app", "key": "uri"}}


def test_only_web_knows_the_provider(full: list[Manifest]) -> None:
    """As with docker-compose.yml: the others would want the client's secret with it."""
    services = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    alone = {name for name in services["web"]["environment"] if name not in services["beat"]["environment"]}
    assert "OIDC_CLIENT_SECRET" in alone
    for name, pod in pods(full).items():
        given = environment(full, pod)
        assert alone & set(given) == (alone if name == "web" else set()), name


def test_little_is_enough(minimal: list[Manifest]) -> None:
    """What is not said follows from how people reach the site; what may be missing in the secret is optional."""
    given = environment(minimal, pods(minimal)["web"])
    assert (given["ALLOWED_HOSTS"], given["CSRF_TRUSTED_ORIGINS"], given["BEHIND_TLS_PROXY"]) == (
        "scheduler-admin.example.com",
        "https://scheduler-admin.example.com",
        "1",
    )
    needed = {name for name, one in given.items() if isinstance(one, dict) and "optional" not in one["secretKeyRef"]}
    assert needed == {"SECRET_KEY", "DATABASE_URL", "REDIS_PASSWORD"}
    # Kubernetes puts one variable into another only where it stands before.
    order = [one["name"] for one in container(pods(minimal)["web"])["env"]]
    assert order.index("REDIS_PASSWORD") < order.index("REDIS_URL")
    assert named(minimal, "Service")[given["REDIS_URL"].split("@")[1].split(":")[0].removeprefix(f"{NAME}-")]


def test_processes_run_as_with_compose(full: list[Manifest]) -> None:
    """The same commands, and the same questions after their health."""
    services = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    for name in PROCESSES:
        one = container(pods(full)[name])
        assert one["command"] == services[name]["command"], name
        asked = services[name].get("healthcheck", {}).get("test", [])
        probes = {probe: one[probe] for probe in one if probe.endswith("Probe")}
        if name == "web":
            assert probes["readinessProbe"]["httpGet"]["path"] == re.search(r"8000(/readyz[^']*)", asked[-1])[1]
            assert {probes[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe")} == {"/livez"}
        else:
            commands = {tuple(probe["exec"]["command"]) for probe in probes.values()}
            assert commands == ({("sh", "-c", asked[1])} if "CMD-SHELL" in asked else set()), name


def test_beat_is_one_and_migration_comes_before(full: list[Manifest]) -> None:
    """Never two beats, not even for a moment; nothing starts on a database that is not up to date."""
    beat = named(full, "Deployment")["beat"]["spec"]
    assert (beat["replicas"], beat["strategy"]) == (1, {"type": "Recreate"})
    hooks = named(full, "Job")["migrate"]["metadata"]["annotations"]["helm.sh/hook"]
    assert set(hooks.split(",")) == {"pre-install", "pre-upgrade"}


def test_selectors_find_the_pods_that_they_mean(full: list[Manifest]) -> None:
    """Services, budgets and network policies choose one component each; Deployments have distinct ones."""
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(full).items()}

    def found(selector: Mapping[str, str]) -> set[str]:
        return {name for name, has in labels.items() if selector.items() <= has.items()}

    for name, one in named(full, "Service").items():
        assert found(one["spec"]["selector"]) == {name}
        told = {port["name"] for port in container(pods(full)[name])["ports"]}
        assert {port["targetPort"] for port in one["spec"]["ports"]} <= told
    for name, one in (named(full, "PodDisruptionBudget") | named(full, "Deployment")).items():
        assert found(one["spec"]["selector"]["matchLabels"]) == {name}
    policies = named(full, "NetworkPolicy")
    assert found(policies.pop("")["spec"]["podSelector"]["matchLabels"]) == set(labels)
    assert set(policies) == set(labels)
    for name, one in policies.items():
        assert found(one["spec"]["podSelector"]["matchLabels"]) == {name}


def test_the_network_is_open_where_it_has_to_be(full: list[Manifest], minimal: list[Manifest]) -> None:
    """Who is reached at which port, and who reaches what."""

    def ports(objects: list[Manifest], way: str) -> dict[str, set[int]]:
        every = {name: one["spec"].get(way, []) for name, one in named(objects, "NetworkPolicy").items()}
        return {
            name: {port["port"] for rule in rules for port in rule["ports"]} for name, rules in every.items() if rules
        }

    assert ports(minimal, "ingress") == {"web": {8000}, "redis": {6379}}
    assert ports(full, "ingress") == {"web": {8000}, "redis": {6379}, **{name: {9101} for name in WORKERS}}
    ours = {53, 5432, 6379}
    assert ports(minimal, "egress") == {
        **dict.fromkeys(PROCESSES, ours),
        "migrate": ours - {6379},
        **dict.fromkeys(("web", "engine"), ours | {443, 6443}),
        "housekeeping": ours | {443},
    }
    assert ports(full, "egress")["housekeeping"] == ours | {8001, 443, every_setting()["EMAIL_PORT"]}
    (visits,) = named(full, "NetworkPolicy")["web"]["spec"]["ingress"]
    assert visits["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "elsewhere"}


def test_pods_may_do_little(full: list[Manifest]) -> None:
    """As with compose: a file system that can't be written, and bounds; all from pinned images."""
    for name, pod in pods(full).items():
        one = container(pod)
        assert one["securityContext"]["readOnlyRootFilesystem"] is True, name
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True, name
        assert {"cpu", "memory"} <= set(one["resources"]["requests"]), name
        assert "memory" in one["resources"]["limits"], name
        assert re.search(r"@sha256:|:[^/:]+$", one["image"]), name
        (spread,) = pod["spec"]["topologySpreadConstraints"]
        assert spread["labelSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), name


def test_changed_settings_begin_pods_anew(minimal: list[Manifest]) -> None:
    """The pods know their settings by a sum."""

    def sums(objects: list[Manifest]) -> dict[str, str]:
        return {
            name: pod["metadata"]["annotations"]["checksum/settings"]
            for name, pod in pods(objects).items()
            if name in PROCESSES
        }

    other = sums(helm.rendered(merged(MINIMAL, {"settings": {"API_RATE": 7}})))
    assert set(other) == PROCESSES
    assert all(other[name] != mark for name, mark in sums(minimal).items())


def test_prometheus_is_told_where_and_what(full: list[Manifest]) -> None:
    """The rules and the dashboard of deploy/; the site is read at the name that it answers to."""
    alerts = (
        (BASE / "deploy" / "alerts.yaml").read_text(encoding="utf-8").replace("DOCS_URL", "https://docs.example.com")
    )
    assert named(full, "PrometheusRule")[""]["spec"] == yaml.safe_load(alerts)
    board = named(full, "ConfigMap")["dashboard"]["data"]["scheduler-admin.json"]
    assert board == (BASE / "deploy" / "grafana-dashboard.json").read_text(encoding="utf-8")
    monitors = named(full, "ServiceMonitor")
    (site,) = monitors["web"]["spec"]["endpoints"]
    assert (site["scheme"], site["relabelings"][0]["replacement"]) == ("https", "site.example.com:8443")
    services = named(full, "Service")
    assert monitors["web"]["spec"]["selector"]["matchLabels"].items() <= services["web"]["metadata"]["labels"].items()
    scraped = {"web": {"web"}, "workers": set(WORKERS)}
    ends = [site]
    for name, monitor in named(full, "PodMonitor").items():
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        chosen = {component: pod for component, pod in pods(full).items() if selects(monitor["spec"]["selector"], pod)}
        assert chosen.keys() == scraped.pop(name)
        assert all(endpoint["port"] in {port["name"] for port in container(pod)["ports"]} for pod in chosen.values())
        ends.append(endpoint)
    assert not scraped
    for one in ends:
        token = one["authorization"]["credentials"]
        assert token == {"name": "scheduler-admin-secrets", "key": "METRICS_TOKEN"}


def test_without_documents_alerts_link_nowhere() -> None:
    """A link that leads nowhere would cost time when there is none."""
    metrics = {"enabled": True, "prometheusRule": {"enabled": True}}
    (rules,) = named(helm.rendered({**MINIMAL, "metrics": metrics}), "PrometheusRule").values()
    every = [rule for group in rules["spec"]["groups"] for rule in group["rules"]]
    assert every
    assert all(rule["annotations"].keys() == {"summary"} for rule in every)


@pytest.mark.parametrize(
    ("site", "workers", "kinds"),
    [
        (True, None, {"ServiceMonitor", "PodMonitor"}),
        (True, False, {"ServiceMonitor"}),
        (False, True, {"PodMonitor"}),
        (False, None, set()),
    ],
)
def test_workers_are_scraped_where_the_site_is_unless_said_otherwise(
    site: bool, workers: bool | None, kinds: set[str]
) -> None:
    """Each has a switch of its own."""
    metrics = {"enabled": True, "serviceMonitor": {"enabled": site}, "podMonitor": {"enabled": workers}}
    made = {one["kind"] for one in helm.rendered({**MINIMAL, "metrics": metrics})}
    assert made & {"ServiceMonitor", "PodMonitor"} == kinds


def test_web_grows_with_its_load(minimal: list[Manifest], full: list[Manifest]) -> None:
    """With autoscaling, an upgrade does not reset the number of pods."""
    assert "HorizontalPodAutoscaler" not in {one["kind"] for one in minimal}
    scaler = named(full, "HorizontalPodAutoscaler")["web"]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"{NAME}-web"}
    assert scaler["behavior"] == {"scaleDown": {"stabilizationWindowSeconds": 600}}
    assert "replicas" not in named(full, "Deployment")["web"]["spec"]
    assert named(minimal, "Deployment")["web"]["spec"]["replicas"] == 2


def test_openshift_chooses_the_users(full: list[Manifest]) -> None:
    """No pod names a user there; elsewhere Redis alone does, whose image starts as root."""
    text = json.dumps({name: pod["spec"]["securityContext"] for name, pod in pods(full).items() if name != "redis"})
    assert not re.search("runAsUser|runAsGroup|fsGroup", text)
    assert pods(full)["redis"]["spec"]["securityContext"]["runAsUser"] == 999
    openshift = ("--api-versions", "security.openshift.io/v1")
    done = helm.helm("template", helm.RELEASE, CHART, *openshift, values=MINIMAL)
    assert (done.returncode, "runAsUser" in done.stdout, "fsGroup" in done.stdout) == (0, False, False)
    assert re.search(r"^USER [1-9][0-9]*$", (BASE / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)


def test_what_is_added_reaches_every_process(full: list[Manifest], full_values: Values) -> None:
    """Volumes, mounts and variables of one's own, except for Redis."""
    for name in PROCESSES:
        pod = pods(full)[name]
        assert full_values["extraVolumes"][0] in pod["spec"]["volumes"], name
        assert full_values["extraVolumeMounts"][0] in container(pod)["volumeMounts"], name
        assert container(pod)["env"][-1] == full_values["extraEnv"][0], name


def test_what_is_told_afterwards_can_be_done(full_values: Values) -> None:
    """The commands of the notes are there, with their options."""
    done = helm.helm("install", helm.RELEASE, CHART, "--namespace", NAMESPACE, "--dry-run=client", values=full_values)
    assert done.returncode == 0, done.stderr
    notes = done.stdout.split("\nNOTES:\n")[1]
    assert set(re.findall(r"manage\.py (\w+)", notes)) == {"createsuperuser", "connect", "check_cluster"}
    assert {"createsuperuser", "connect", "check_cluster"} <= set(get_commands())
    assert set(re.findall(r"deployment/(\S+)", notes)) == {f"{NAME}-web", f"{NAME}-engine"}
    assert "https://site.example.com:8443" in notes


def test_the_chart_is_whole_without_links(tmp_path: Path) -> None:
    """Flux and others drop links from what they fetch. deploy/ has links to the chart's files, under short names."""
    assert [file for file in CHART.rglob("*") if file.is_symlink()] == []
    files = sorted((CHART / "files").iterdir())
    assert [file.name for file in files if (BASE / "deploy" / file.name).resolve() != file] == []
    done = helm.helm("package", CHART, "--destination", tmp_path)
    assert done.returncode == 0, done.stderr
    (package,) = tmp_path.iterdir()
    with tarfile.open(package) as packed:
        for file in files:
            member = packed.extractfile(f"scheduler-admin/files/{file.name}")
            assert member is not None
            assert member.read() == file.read_bytes()


@pytest.mark.parametrize("missing", [False, True])
def test_a_chart_without_its_files_installs_nothing(tmp_path: Path, full_values: Values, missing: bool) -> None:
    """Rather than a release without permissions or alerts. Each file is named."""
    for name in sorted(file.name for file in (CHART / "files").iterdir()):
        broken = tmp_path / name
        shutil.copytree(CHART, broken)
        file = broken / "files" / name
        file.unlink() if missing else file.write_text("\n")
        done = helm.template(full_values, broken)
        assert (done.returncode, done.stdout) == (1, ""), name
        assert f"The chart is incomplete: files/{name} is missing or empty." in done.stderr


def test_what_the_docs_say_is_enough() -> None:
    """Their values are taken, the names in their commands are those of the objects, and each secret is known."""
    text = (
        (BASE / "docs" / "operations" / "install.md")
        .read_text(encoding="utf-8")
        .split("\n## On Kubernetes\n")[1]
        .split("\n## ")[0]
    )
    values = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    done = helm.helm("template", "scheduler-admin", CHART, values=values)
    assert done.returncode == 0, done.stderr
    objects = [one for one in yaml.safe_load_all(done.stdout) if one]
    assert {one["metadata"]["name"] for one in objects if one["kind"] == "Job"} == set(
        re.findall(r"logs job/([-\w]+)", text)
    )
    needed = re.findall(r"--from-literal (\w+)=", text)
    assert set(needed) == {
        one["name"] for pod in pods(objects).values() for one in container(pod)["env"] if _needed(one)
    }
    upgrade = (BASE / "docs" / "operations" / "upgrade.md").read_text(encoding="utf-8")
    selector = dict(pair.split("=") for pair in re.findall(r"[\w./]+=[-\w]+", upgrade) if pair.startswith("app."))
    assert selector == {"app.kubernetes.io/instance": "scheduler-admin"}
    assert all(selector.items() <= one["metadata"]["labels"].items() for one in objects if one["kind"] == "Deployment")
    for name in re.findall(r"^- `(\w+)[.`]", text, re.MULTILINE):
        assert name in yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def _needed(one: Manifest) -> bool:
    return "valueFrom" in one and "optional" not in one["valueFrom"]["secretKeyRef"]
