"""The chart, rendered once for each set of values."""

import json
from typing import Any

import pytest

from tests.controlplane import binaries
from tests.deploy import helm
from tests.deploy.helm import Manifest

MINIMAL: dict[str, Any] = {
    "image": {"repository": "registry.example.com/scheduler-admin"},
    "secret": {"name": "scheduler-admin-secrets"},
    "settings": {"SITE_URL": "https://scheduler-admin.example.com"},
}
"""What has to be given."""
_PEERS = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "elsewhere"}}}]
_SAMPLES = {"boolean": True, "integer": 7, "string": "https://example.com/text"}


_TRACED = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_SAMPLER_ARG": "0.01"}


def every_setting() -> dict[str, Any]:
    """A value for each setting that the schema knows."""
    schema = json.loads((helm.CHART / "values.schema.json").read_text(encoding="utf-8"))
    known = schema["properties"]["settings"]["properties"]
    samples = {name: one["enum"][-1] if "enum" in one else _SAMPLES[one["type"]] for name, one in known.items()}
    more = {"JOURNAL_MB": 2_000_000, "INSECURE_HTTP": False}
    more |= dict.fromkeys(("NOTIFICATION_NETWORKS", "ISSUER_NETWORKS"), "10.1.0.0/16")
    return {
        **samples,
        **more,
        "SITE_URL": "https://site.example.com:8443/",
        "DOCS_URL": "https://docs.example.com/",
        **_TRACED,
    }


@pytest.fixture(scope="session")
def minimal_values() -> dict[str, Any]:
    """What has to be given, and nothing else."""
    return MINIMAL


@pytest.fixture(scope="session")
def full_values() -> dict[str, Any]:
    """Everything that can be turned on, is; each list has something in it."""
    on = {"enabled": True}
    rights = (
        "observe",
        "enforce",
        "priorityClasses",
        "applyTree",
        "consumers",
        "tokenReview",
        "yunikorn",
        "kubeScheduler",
    )
    return {
        "image": {**MINIMAL["image"], "digest": f"sha256:{'0a' * 32}", "pullSecrets": [{"name": "registry"}]},
        "secret": {**MINIMAL["secret"], "from": {"DATABASE_URL": {"name": "database-app", "key": "uri"}}},
        "settings": every_setting(),
        "rbac": dict.fromkeys(rights, True),
        "web": {
            "serviceAccount": {"name": "pages", "annotations": {"example.com/team": "platform"}},
            "autoscaling": {**on, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}}},
        },
        "engine": {"serviceAccount": {"name": "engines"}},
        "kubeconfigs": {"secretName": "other-clusters", "webSecretName": "to-read-other-clusters"},
        "ingress": {**on, "className": "nginx", "annotations": {"example.com/a": "b"}, "tlsSecretName": "site-tls"},
        "redis": on,
        "networkPolicy": {
            **on,
            "webFrom": _PEERS,
            "metricsFrom": _PEERS,
            "databaseTo": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
            "extraEgress": [{"to": _PEERS, "ports": [{"port": 8001}]}],
        },
        "metrics": {**on, "serviceMonitor": on, "prometheusRule": {**on, "labels": {"release": "p"}}, "dashboard": on},
        "podLabels": {"example.com/team": "platform"},
        "podAnnotations": {"example.com/note": "a note"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "example.com/ours", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_near()]}},
        "priorityClassName": "system-cluster-critical",
        "extraEnv": [{"name": "SSL_CERT_FILE", "value": "/etc/authority/ca.crt"}],
        "extraVolumes": [{"name": "authority", "configMap": {"name": "authority"}}],
        "extraVolumeMounts": [{"name": "authority", "mountPath": "/etc/authority", "readOnly": True}],
    }


def _near() -> Manifest:
    wish = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
    return {"weight": 1, "preference": {"matchExpressions": [wish]}}


@pytest.fixture(scope="session")
def built_helm() -> None:
    """What renders the chart."""
    binaries.provide("helm", helm.program().is_file, helm.build)


@pytest.fixture(scope="session")
def minimal(built_helm: None, minimal_values: dict[str, Any]) -> list[Manifest]:
    """The chart's objects with what has to be given."""
    return helm.rendered(minimal_values)


@pytest.fixture(scope="session")
def full(built_helm: None, full_values: dict[str, Any]) -> list[Manifest]:
    """The chart's objects with everything on."""
    return helm.rendered(full_values)
