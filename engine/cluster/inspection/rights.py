"""Lists the rights that the product needs, and what is lost without each. deploy/*.yaml grant exactly these."""

from dataclasses import dataclass

from kubernetes import client

from engine.cluster.acting.lease import LEASE_NAME, LEASE_NAMESPACE
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.watching.tables import (
    ARBITRATED,
    CLAIMS,
    COMPOSITE_GROUPS,
    KUEUE,
    NAMESPACES,
    PREEMPTED,
    QUOTAS,
    SCHEDULING_GROUPS,
    SHARING,
    TABLES,
    VOLCANO_SETTINGS,
    VOLCANOS,
    VOLUMES,
)
from engine.formats.arbitrator.consumers import VERSION as ARBITRATION
from engine.formats.kueue.fair_sharing_config import CONFIG as KUEUE_CONFIG
from engine.formats.kueue.queue_names import GROUP
from engine.formats.volcano.watched import CONFIG as VOLCANO_CONFIG
from engine.model.message import gettext_noop

OBSERVE, ENFORCE, CLASSES = "deploy/observe.yaml", "deploy/rbac.yaml", "deploy/priority-classes.yaml"
REVIEWS, APPLY, CONSUMERS = "deploy/token-review.yaml", "deploy/apply-tree.yaml", "deploy/consumers.yaml"
CONFIG = "yunikorn-configs"
"""The ConfigMap in which YuniKorn keeps its queues.yaml."""
_VERSION = "authorization.k8s.io/v1"


@dataclass(frozen=True)
class Right:
    """A verb on a resource, with the effect of lacking it."""

    verb: str
    resource: str
    """The plural name, with the subresource: ``pods/eviction``."""
    group: str = ""
    name: str = ""
    """The name of the only object that it applies to; empty: all objects."""
    namespace: str = ""
    """The only namespace that it applies to; empty: all namespaces, or a resource without namespaces."""
    without: str = ""
    """What is lost where the right is not granted, if the product works without it."""
    manifest: str = OBSERVE

    def __str__(self) -> str:
        """Return text such as ``list poddisruptionbudgets.policy``."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{name}" + (f" in {self.namespace}" if self.namespace else "")


def _acting(verbs: str, resource: str, group: str = "", name: str = "", namespace: str = "") -> tuple[Right, ...]:
    return tuple(Right(verb, resource, group, name, namespace, manifest=ENFORCE) for verb in verbs.split())


def _optional(verbs: str, resource: str, without: str, name: str = "") -> tuple[Right, ...]:
    return tuple(Right(verb, resource, name=name, without=without) for verb in verbs.split())


def _resource(path: str) -> tuple[str, str]:
    """Return the plural name and the group of a list's path."""
    *_, group, _version, resource = path.split("/")
    return resource, "" if path.startswith("/api/") else group


_ADD_ONS = (*KUEUE, *VOLCANOS, *ARBITRATED)
OBSERVING = (
    *(
        Right(verb, *_resource(table.path), without=table.without)
        for table in (*TABLES, CLAIMS, VOLUMES, SCHEDULING_GROUPS, COMPOSITE_GROUPS, PREEMPTED, *_ADD_ONS)
        for verb in ("list", "watch")
    ),
    *_optional("watch", "namespaces", NAMESPACES.without),
    *_optional(
        "list",
        "namespaces",
        gettext_noop(
            "pending pods whose affinity rules select namespaces by label are skipped, namespaces without "
            "pods get no leaf queue on connection, and duplicate connections or changed clusters are not "
            "detected"
        ),
    ),
    *_optional(
        "list",
        "resourcequotas",
        gettext_noop(
            "the queue tree created on connection gets no max from resource quotas, and quotas by "
            "priority class are not shown"
        ),
    ),
    *_optional("watch", "resourcequotas", QUOTAS.without),
    *_optional(
        "get",
        "configmaps",
        gettext_noop(
            "YuniKorn’s queue tree is not imported on connection, and changes that others make to it are not detected"
        ),
        name=CONFIG,
    ),
    *_optional("list watch", "configmaps", SHARING.without, name=KUEUE_CONFIG),
    *_optional("list watch", "configmaps", VOLCANO_SETTINGS.without, name=VOLCANO_CONFIG),
)
PUBLISHING = _acting("create get patch", "events")
ACTING = (
    *PUBLISHING,
    *_acting("get patch", "nodes"),
    *_acting("get patch", "pods"),
    *_acting("patch", "pods/status"),
    *_acting("create", "pods/eviction"),
    *_acting("create", "leases", "coordination.k8s.io", namespace=LEASE_NAMESPACE),
    *_acting("get update", "leases", "coordination.k8s.io", LEASE_NAME, LEASE_NAMESPACE),
)

WRITING_CLASSES = tuple(
    Right(verb, "priorityclasses", "scheduling.k8s.io", manifest=CLASSES)
    for verb in ("get", "create", "patch", "delete")
)
"""The rights for changing priority classes, in any mode; no mode needs them."""
REVIEWING = (Right("create", "tokenreviews", "authentication.k8s.io", manifest=REVIEWS),)
"""The rights for letting people sign in by tokens of the cluster; no mode needs them."""
APPLYING_YUNIKORN = tuple(Right(verb, "configmaps", name=CONFIG, manifest=APPLY) for verb in ("get", "patch"))
APPLYING_KUEUE = tuple(
    Right(verb, resource, GROUP, manifest=APPLY)
    for resource in ("cohorts", "clusterqueues", "localqueues")
    for verb in ("list", "create", "patch", "delete")
)
APPLYING_CONSUMERS = tuple(
    Right(verb, "consumers", ARBITRATION.partition("/")[0], manifest=APPLY)
    for verb in ("list", "create", "patch", "delete")
)
APPLYING = (*APPLYING_YUNIKORN, *APPLYING_KUEUE, *APPLYING_CONSUMERS)
"""The rights for writing a tree back to where the cluster's own scheduler keeps it; no mode needs them."""

ARBITRATING = tuple(
    Right(verb, resource, ARBITRATION.partition("/")[0], manifest=CONSUMERS)
    for verbs, resource in (("create", "consumers"), ("create patch", "allocations"), ("patch", "allocations/status"))
    for verb in verbs.split()
)
"""The rights for publishing in the cluster what namespaces deserve; no mode needs them."""


def required_rights(mode: str, *, publish: bool = False) -> tuple[Right, ...]:
    """Return the rights that a mode needs; ``publish``: whether Events are written in advise."""
    if mode == "enforce":
        return (*OBSERVING, *ACTING)
    return (*OBSERVING, *PUBLISHING) if mode == "advise" and publish else OBSERVING


def is_granted(connection: Connection, right: Right, account: str = "") -> bool:
    """Return whether the API server would allow a right, to us or to a service account ``NAMESPACE/NAME``.

    Raises ApiFailure and ConnectionFailure.
    """
    resource, _, subresource = right.resource.partition("/")
    attributes = client.V1ResourceAttributes(
        verb=right.verb,
        group=right.group or None,
        resource=resource,
        subresource=subresource or None,
        name=right.name or None,
        namespace=right.namespace or None,
    )
    status = _reviewed(client.AuthorizationV1Api(KubernetesClient(connection)), attributes, account)
    return status is not None and status.allowed


def _reviewed(
    api: "client.AuthorizationV1Api", attributes: "client.V1ResourceAttributes", account: str
) -> "client.V1SubjectAccessReviewStatus | None":
    if not account:
        own = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        review = client.V1SelfSubjectAccessReview(api_version=_VERSION, kind="SelfSubjectAccessReview", spec=own)
        return api.create_self_subject_access_review(review).status
    namespace, _, name = account.partition("/")
    spec = client.V1SubjectAccessReviewSpec(
        resource_attributes=attributes,
        user=f"system:serviceaccount:{namespace}:{name}",
        # The groups that the API server gives to a service account that signs in by its token.
        groups=["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"],
    )
    review_of_account = client.V1SubjectAccessReview(api_version=_VERSION, kind="SubjectAccessReview", spec=spec)
    return api.create_subject_access_review(review_of_account).status
