"""Volcano's objects as they stand on the wire, down to what decides about shares."""

from engine.formats.kubernetes_wire import ObjectMeta, Quantities, Wire


class Guarantee(Wire, frozen=True):
    resource: Quantities | None = None


class QueueFields(Wire, frozen=True):
    parent: str | None = None
    weight: int | None = None
    capability: Quantities | None = None
    guarantee: Guarantee | None = None
    deserved: Quantities | None = None


class QueueObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: QueueFields = QueueFields()


class PodGroupFields(Wire, frozen=True):
    queue: str | None = None


class PodGroupObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupFields = PodGroupFields()


class ConfigMapObject(Wire, frozen=True):
    data: dict[str, str] | None = None


class PluginFields(Wire, frozen=True):
    """The configuration is YAML that Volcano reads by these very names."""

    name: str = ""
    enable_hierarchy: bool | None = None


class Tier(Wire, frozen=True):
    plugins: tuple[PluginFields, ...] | None = None


class Configuration(Wire, frozen=True):
    tiers: tuple[Tier, ...] | None = None
