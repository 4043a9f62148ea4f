"""What the chart lets its accounts do: what the manifests in deploy/ do, and no more; web reads, the engine acts."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.deploy import helm
from tests.deploy.conftest import MINIMAL
from tests.deploy.helm import CHART, NAME, NAMESPACE, Manifest, environment, merged, pods

pytestmark = [pytest.mark.helm, pytest.mark.usefixtures("built_helm")]

DEPLOY = CHART.parent
FILES = ("observe", "rbac", "priority-classes", "apply-tree", "consumers", "token-review", "yunikorn", "kube-scheduler")


WEBS = ["priority-classes", "token-review", "check"]
ENGINES = ["apply-tree", "consumers", "enforce", "kube-scheduler", "yunikorn"]
"""What only one of the two has, by the roles' names."""


def rights(documents: list[Manifest], called: str = NAME) -> Iterator[tuple[str, Any]]:
    """What every role and binding says, under kind, name without what all are called, and namespace."""
    for one in documents:
        if str(one["apiVersion"]).startswith("rbac."):
            about = one["metadata"]
            name = re.sub(f"^{called}-", "", about["name"])
            leads_to = dict(one.get("roleRef", {}))
            leads_to["name"] = re.sub(f"^{called}-", "", leads_to.get("name", ""))
            yield f"{one['kind']} {name} {about.get('namespace', '')}", (one.get("rules"), leads_to)


def test_rights_are_those_of_the_manifests(full: list[Manifest], minimal: list[Manifest]) -> None:
    """Rule by rule; without being asked for more, those of observe alone, and web may ask what the engine may."""

    def of(*files: str) -> dict[str, Any]:
        texts = [(DEPLOY / f"{name}.yaml").read_text(encoding="utf-8") for name in files]
        return dict(
            rights([document for text in texts for document in yaml.safe_load_all(text)], called="scheduler-admin")
        )

    def but_check(documents: list[Manifest]) -> dict[str, Any]:
        return {name: right for name, right in rights(documents) if name.split()[1] != "check"}

    assert but_check(full) == of(*FILES)
    assert but_check(minimal) == of("observe")
    (text,) = [one for one in full if one["kind"] == "CustomResourceDefinition" and "consumers" in str(one["metadata"])]
    (kept,) = [
        one
        for one in yaml.safe_load_all((DEPLOY / "consumers.yaml").read_text(encoding="utf-8"))
        if one["metadata"]["name"] == text["metadata"]["name"]
    ]
    assert text["spec"] == kept["spec"]
    assert text["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_web_reads_and_the_engine_acts(full: list[Manifest]) -> None:
    """What evicts, taints and writes is not the account of the process that people reach."""
    holders: dict[str, set[str]] = {}
    for one in full:
        if one["kind"].endswith("RoleBinding"):
            assert all(one["kind"] == "ServiceAccount" and one["namespace"] == NAMESPACE for one in one["subjects"])
            held = holders.setdefault(one["metadata"]["name"].removeprefix(f"{NAME}-"), set())
            held.update(one["name"] for one in one["subjects"])
    assert holders.pop("observe") == {"pages", "engines"}
    assert {name for name, held in holders.items() if held == {"pages"}} == set(WEBS)
    assert {name for name, held in holders.items() if held == {"engines"}} == set(ENGINES)
    assert set(holders) == {*WEBS, *ENGINES}
    accounts = {name: pod["spec"].get("serviceAccountName") for name, pod in pods(full).items()}
    assert accounts == dict.fromkeys(accounts, None) | {"web": "pages", "engine": "engines"}
    given = environment(full, pods(full)["web"])["ENGINE_SERVICE_ACCOUNT"]
    assert given == f"{NAMESPACE}/engines"


def test_kubeconfigs_of_web_may_be_others(full: list[Manifest]) -> None:
    """Files of the same names, for accounts that may do less; without, they are the engine's."""

    def secrets(objects: list[Manifest]) -> dict[str, str]:
        found = {}
        for name, pod in pods(objects).items():
            volumes = {one["name"]: one for one in pod["spec"].get("volumes", ())}
            if "kubeconfigs" in volumes:
                found[name] = volumes["kubeconfigs"]["secret"]["secretName"]
        return found

    assert secrets(full) == {"web": "to-read-other-clusters", "engine": "other-clusters"}
    same = helm.rendered(merged(MINIMAL, {"kubeconfigs": {"secretName": "other-clusters"}}))
    assert secrets(same) == dict.fromkeys(("web", "engine"), "other-clusters")


def test_no_rights_means_no_token(minimal: list[Manifest]) -> None:
    """Only who speaks to the cluster has a token there, and nobody where it is not to be read."""
    tokens = {name for name, pod in pods(minimal).items() if pod["spec"]["automountServiceAccountToken"]}
    assert tokens == {"web", "engine"}
    without = helm.rendered(merged(MINIMAL, {"rbac": {"observe": False, "enforce": True}, "redis": {"enabled": False}}))
    assert dict(rights(without)) == {}
    assert not any(pod["spec"]["automountServiceAccountToken"] for pod in pods(without).values())
    # A Redis of one's own: its address is a secret.
    assert "redis" not in pods(without)
    assert environment(without, pods(without)["beat"])["REDIS_URL"]["secretKeyRef"]["key"] == "REDIS_URL"
