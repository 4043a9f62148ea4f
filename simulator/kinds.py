"""The resources that the API serves, and their names."""

from collections.abc import Iterator
from dataclasses import dataclass

POD_GROUPS = "podgroups.scheduling.k8s.io"
"""The key of groups of pods that are scheduled together."""
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A table column of a custom kind: `type` is "date" for times; priority 0 is always shown."""

    name: str
    type: str
    path: str
    priority: int


@dataclass(frozen=True, slots=True)
class ApiResource:
    """A resource in one group and version.

    `fields` are the field selectors beside metadata.name and metadata.namespace. `generation` says whether
    metadata.generation counts changes of the specification. `stored_as` is the key of the resource whose objects this
    one shows, when they belong to another resource. `verbs` are the allowed verbs; a resource without "get" stores
    nothing.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str = ""
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    generation: bool = False
    custom: bool = False
    stored_as: str = ""
    verbs: tuple[str, ...] = VERBS
    columns: tuple[PrinterColumn, ...] = ()

    @property
    def key(self) -> str:
        """Return its key in the store: "plural" in the core group, otherwise "plural.group"."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage(self) -> str:
        """Return the key under which its objects are stored."""
        return self.stored_as or self.key

    @property
    def api_version(self) -> str:
        """Return the apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def has_status(self) -> bool:
        """Return whether the status is written through its own subresource."""
        return "status" in self.subresources


_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)

BUILT_IN = (
    ApiResource("", "v1", "Namespace", "namespaces", "namespace", False, ("ns",), ("status",), (),
         ("status.phase", "name")),
    ApiResource("", "v1", "Node", "nodes", "node", False, ("no",), ("status",), (), ("spec.unschedulable",)),
    ApiResource("", "v1", "Pod", "pods", "pod", True, ("po",), ("binding", "eviction", "log", "status"), ("all",),
         _POD_FIELDS, True),
    ApiResource("", "v1", "Event", "events", "event", True, ("ev",), (), (), _EVENT_FIELDS),
    ApiResource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", True, ("pvc",),
         ("status",)),
    ApiResource("", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume", False, ("pv",), ("status",)),
    ApiResource("", "v1", "ResourceQuota", "resourcequotas", "resourcequota", True, ("quota",), ("status",)),
    ApiResource("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", True, ("sa",)),
    ApiResource("", "v1", "ConfigMap", "configmaps", "configmap", True, ("cm",)),
    ApiResource("", "v1", "Secret", "secrets", "secret", True, (), (), (), ("type",)),
    ApiResource("apps", "v1", "ReplicaSet", "replicasets", "replicaset", True, ("rs",), ("scale", "status"), ("all",),
         ("status.replicas",), True),
    ApiResource("batch", "v1", "Job", "jobs", "job", True, (), ("status",), ("all",), (), True),
    ApiResource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", True, ("pdb",),
         ("status",), (), (), True),
    ApiResource("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", False, ("pc",), (), (),
         (), True),
    ApiResource("scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups", "podgroup", True, (), ("status",)),
    ApiResource("coordination.k8s.io", "v1", "Lease", "leases", "lease"),
    ApiResource("events.k8s.io", "v1", "Event", "events", "event", True, ("ev",), (), (),
         ("reason", "type", "regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
          "reportingController"), stored_as="events"),
    ApiResource("", "v1", "Binding", "bindings", "binding", verbs=("create",)),
    ApiResource("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
         "selfsubjectaccessreview", False, verbs=("create",)),
    ApiResource("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", False,
         verbs=("create",)),
    ApiResource("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", "tokenreview", False, verbs=("create",)),
    ApiResource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
         "customresourcedefinition", False, ("crd", "crds"), ("status",), ("api-extensions",), (), True),
)  # fmt: skip


class Registry:
    """The kinds that are served now; custom kinds are added and removed with their definitions."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[str, str, str], ApiResource] = {}
        self._by_key: dict[str, ApiResource] = {}
        for kind in BUILT_IN:
            self.add(kind)

    def __getitem__(self, key: str) -> ApiResource:
        """Return the kind of a key; of several versions the first that was added. Raises KeyError."""
        return self._by_key[key]

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[ApiResource]:
        return iter(self._by_path.values())

    def add(self, kind: ApiResource) -> None:
        """Serve a kind from now on."""
        self._by_path[kind.group, kind.version, kind.plural] = kind
        self._by_key.setdefault(kind.key, kind)

    def discard(self, key: str) -> None:
        """Stop serving every version of a key."""
        self._by_path = {path: kind for path, kind in self._by_path.items() if kind.key != key}
        self._by_key.pop(key, None)

    def find(self, group: str, version: str, plural: str) -> ApiResource | None:
        """Return the kind that is served there, None if there is none."""
        return self._by_path.get((group, version, plural))
