"""Reading of Kueue's fair sharing settings from the ConfigMap that it is started with.

Source: Kueue's apis/config. In v1beta1 ``fairSharing`` has a switch; since v1beta2 its presence turns it on.
"""

from collections.abc import Mapping
from typing import Any

from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.yaml import documents
from engine.model.objects import KueueSettings

CONFIG, NAMESPACE = "kueue-manager-config", "kueue-system"
"""Name and namespace of the ConfigMap in a default installation of Kueue."""
_KEY = "controller_manager_config.yaml"
_SWITCHED = "config.kueue.x-k8s.io/v1beta1"


def to_sharing(config: ConfigMapObject) -> KueueSettings | None:
    """Return the fair sharing settings in a ConfigMap; None for another ConfigMap. Raise ValueError."""
    text = (config.data or {}).get(_KEY)
    if text is None:
        return None
    loaded = documents.load(text)
    if len(loaded) != 1 or not isinstance(loaded[0], Mapping):
        raise ValueError(f"{_KEY} contains no configuration")
    fair, strategies = _fair(loaded[0])
    return KueueSettings(name=config.metadata.name or "", fair=fair, strategies=strategies)


def _fair(config: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
    settings = config.get("fairSharing")
    if not isinstance(settings, Mapping):
        return False, ()
    strategies = settings.get("preemptionStrategies") or ()
    if not isinstance(strategies, list | tuple) or not all(isinstance(strategy, str) for strategy in strategies):
        raise ValueError("preemptionStrategies must be a list of strings")
    on = settings.get("enable", config.get("apiVersion") != _SWITCHED)
    return bool(on), tuple(map(str, strategies))
