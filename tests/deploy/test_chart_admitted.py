"""The chart's objects before a real API server, in a namespace that takes restricted pods alone."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import Wire
from tests.deploy.helm import NAMESPACE, Manifest, pods
from tests.waiting import wait_for

pytestmark = pytest.mark.controlplane

APPLY = "application/apply-patch+yaml"
TRIED = "dryRun=All&fieldManager=helm&fieldValidation=Strict&force=true"
GROUP = "monitoring.coreos.com"
TEXT: Manifest = {"type": "string"}
LABELS: Manifest = {"type": "object", "additionalProperties": TEXT}


def fields(**properties: Manifest) -> Manifest:
    """An object with these fields and no others."""
    return {"type": "object", "properties": properties}


def several(item: Manifest) -> Manifest:
    return {"type": "array", "items": item}


# Of the Prometheus Operator's kinds the fields that the chart uses: others would be refused, also misspelt ones.
RELABELING = fields(targetLabel=TEXT, replacement=TEXT, regex=TEXT, action={**TEXT, "enum": ["replace", "labeldrop"]})
ENDPOINT = fields(
    port=TEXT,
    path=TEXT,
    scheme={**TEXT, "enum": ["http", "https", "HTTP", "HTTPS"]},
    interval={**TEXT, "pattern": "^(0|(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"},
    authorization=fields(type=TEXT, credentials={**fields(name=TEXT, key=TEXT), "required": ["key"]}),
    relabelings=several(RELABELING),
)
RULE = fields(alert=TEXT, expr=TEXT, **{"for": TEXT}, labels=LABELS, annotations=LABELS)
KINDS = {
    "ServiceMonitor": fields(selector=fields(matchLabels=LABELS), endpoints=several(ENDPOINT)),
    "PodMonitor": fields(selector=fields(matchLabels=LABELS), podMetricsEndpoints=several(ENDPOINT)),
    "PrometheusRule": fields(groups=several(fields(name=TEXT, rules=several(RULE)))),
}


def definition(kind: str, spec: Manifest) -> Manifest:
    plural = f"{kind.lower()}s"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": fields(spec=spec)}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


def space(name: str, **labels: str) -> Manifest:
    return {"metadata": {"name": name, "labels": labels}}


@pytest.fixture(scope="module")
def wire(plane: ControlPlane) -> Iterator[Wire]:
    """The API server, with a namespace for restricted pods, YuniKorn's, and the kinds of Prometheus."""
    wire = plane.wire()
    made = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    names = [f"{kind.lower()}s.{GROUP}" for kind in KINDS]
    for kind, spec in KINDS.items():
        assert wire.send("POST", made, definition(kind, spec))[0] == 201
    restricted = space(NAMESPACE, **{"pod-security.kubernetes.io/enforce": "restricted"})
    assert wire.send("POST", "/api/v1/namespaces", restricted)[0] == 201
    others = wire.send("POST", "/api/v1/namespaces", space("yunikorn"))[0]
    wait_for(
        lambda: wire.send("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")[0] == 200, "an account"
    )
    wait_for(lambda: set(resources(wire, f"{GROUP}/v1")) == set(KINDS), "the kinds are served")
    yield wire
    for address in [f"{made}/{name}" for name in names] + [f"/api/v1/namespaces/{NAMESPACE}"]:
        wire.send("DELETE", address)
    if others == 201:
        wire.send("DELETE", "/api/v1/namespaces/yunikorn")
    wire.close()


def resources(wire: Wire, version: str) -> dict[str, tuple[str, bool]]:
    """What the kinds of a version are called in addresses, and whether they are in namespaces."""
    code, found = wire.send("GET", f"/{'apis' if '/' in version else 'api'}/{version}")
    if code != 200:
        return {}
    return {one["kind"]: (one["name"], one["namespaced"]) for one in found["resources"] if "/" not in one["name"]}


def address(wire: Wire, one: Manifest) -> str:
    """Where an object would be; in the release's namespace if it names none, as helm has it."""
    version = one["apiVersion"]
    name, namespaced = resources(wire, version)[one["kind"]]
    place = f"namespaces/{one['metadata'].get('namespace', NAMESPACE)}/" if namespaced else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}/{place}{name}/{one['metadata']['name']}"


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_every_object_is_taken(request: pytest.FixtureRequest, wire: Wire, values: str) -> None:
    """Tried by server-side apply, every field known."""
    objects = request.getfixturevalue(values)
    assert len(objects) > 15
    refused = {}
    for one in objects:
        code, answer = wire.send("PATCH", f"{address(wire, one)}?{TRIED}", one, APPLY)
        if code not in {200, 201}:
            refused[one["kind"], one["metadata"]["name"]] = answer
    assert refused == {}


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_every_pod_is_restricted(request: pytest.FixtureRequest, wire: Wire, values: str) -> None:
    """Their accounts are there; the rest the namespace's Pod Security sees to."""
    objects = request.getfixturevalue(values)
    for account in (one for one in objects if one["kind"] == "ServiceAccount"):
        assert wire.send("PATCH", f"{address(wire, account)}?fieldManager=helm", account, APPLY)[0] in {200, 201}
    templates = pods(objects)
    assert set(templates) == {"web", "engine", "housekeeping", "comparisons", "beat", "migrate", "redis"}
    answers = {name: _tried(wire, name, template) for name, template in templates.items()}
    assert {name: answer for name, (code, answer) in answers.items() if code != 201} == {}


def test_a_pod_that_may_more_is_refused(wire: Wire, minimal: list[Manifest]) -> None:
    """The namespace does look."""
    template = pods(minimal)["migrate"]
    spec = {**template["spec"], "securityContext": {}}
    code, answer = _tried(wire, "loose", {**template, "spec": spec})
    assert (code, "violates PodSecurity" in answer["message"]) == (403, True)


def _tried(wire: Wire, name: str, template: Manifest) -> tuple[int, Any]:
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {**template["metadata"], "name": name}}
    return wire.send("POST", f"/api/v1/namespaces/{NAMESPACE}/pods?{TRIED.removesuffix('&force=true')}", pod)
