"""What the chart lets its account do: what the manifests in deploy/ do, and no more."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.deploy import helm
from tests.deploy.conftest import MINIMAL
from tests.deploy.helm import CHART, NAME, NAMESPACE, Manifest, environment, merged, pods

pytestmark = [pytest.mark.controlplane, pytest.mark.usefixtures("built_helm")]

DEPLOY = CHART.parent
FILES = ("observe", "rbac", "priority-classes", "apply-tree", "consumers", "token-review", "yunikorn")


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
    """Rule by rule, for the release's own account; without being asked for more, those of observe alone."""

    def of(*files: str) -> dict[str, Any]:
        texts = [(DEPLOY / f"{name}.yaml").read_text(encoding="utf-8") for name in files]
        return dict(
            rights([document for text in texts for document in yaml.safe_load_all(text)], called="scheduler-admin")
        )

    assert dict(rights(full)) == of(*FILES)
    assert dict(rights(minimal)) == of("observe")
    subjects = [one["subjects"] for one in full if one["kind"].endswith("RoleBinding")]
    assert subjects
    assert all(s == [{"kind": "ServiceAccount", "name": "engines", "namespace": NAMESPACE}] for s in subjects)
    (text,) = [one for one in full if one["kind"] == "CustomResourceDefinition" and "consumers" in str(one["metadata"])]
    (kept,) = [
        one
        for one in yaml.safe_load_all((DEPLOY / "consumers.yaml").read_text(encoding="utf-8"))
        if one["metadata"]["name"] == text["metadata"]["name"]
    ]
    assert text["spec"] == kept["spec"]
    assert text["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


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
