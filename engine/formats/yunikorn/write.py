"""Writing of a tree into a queues.yaml: values that agree keep their notation, and unrelated settings are kept."""

import json
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from engine.formats.tree_json.document import write_settings
from engine.formats.tree_json.placement import write_rules
from engine.formats.yaml.documents import dump, typed_like
from engine.formats.yaml.edited_text import EditedText
from engine.formats.yaml.emitter import emit
from engine.formats.yaml.manifests import plain
from engine.formats.yunikorn.document import IMPLIED_ROOT, PLACEMENT, only_mapping, partition_of, top_queues
from engine.formats.yunikorn.fields import PROPERTIES, TEMPLATE, VCORE, our_resource, read_queue
from engine.formats.yunikorn.read import placement_of
from engine.model.notes import NoteCollector
from engine.model.quantities import CPU, Amounts, format_amount
from engine.model.queue_settings import BY_NAME, LENDING_PROPERTY, LENDING_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import QueueTree, Settings

Fields = MutableMapping[str, Any]
_Queues = dict[str, Fields]


def write(document: str | Mapping[str, Any] | None, tree: QueueTree) -> str:
    """Return ``document`` as YAML, with its queues made those of ``tree``; ``read`` returns the tree again.

    The document is text, already parsed, or None for a new one. Queues that the tree does not have are removed with all
    their settings. Raise ImportFailure for a document that ``read`` rejects, and ValueError for a tree whose root is
    not called root.
    """
    if tree.root != IMPLIED_ROOT.path:
        raise ValueError(f"YuniKorn's root queue is called {IMPLIED_ROOT.path}, this tree's is {tree.root}")
    if document is None:
        made: dict[str, Any] = {"partitions": [{"name": "default", "queues": [{"name": tree.root}]}]}
        _merge_partition(made, tree)
        return emit([plain(made)])
    edited = EditedText(document if isinstance(document, str) else dump([document]))
    loaded = only_mapping(edited.documents)
    _merge_partition(loaded, tree)
    return edited.written([loaded])


def _merge_partition(loaded: Mapping[str, Any], tree: QueueTree) -> None:
    """Change the partition that is read so that it describes the tree."""
    partition = partition_of(loaded, NoteCollector())
    assert isinstance(partition, MutableMapping)
    _merge_placement(partition, tree)
    top, implied = top_queues(partition)
    if implied and tree[tree.root] == IMPLIED_ROOT:
        _merge_children(partition, tree, tree.root)
        return
    root = CommentedMap(name=tree.root, queues=top) if implied else top[0]
    _merge(root, tree, tree.root)
    if implied:
        partition["queues"] = CommentedSeq([root])


def _merge_placement(partition: Fields, tree: QueueTree) -> None:
    if placement_of(partition, NoteCollector()) != tree.placement:
        _set(partition, PLACEMENT, write_rules(tree.placement) or None)


def _merge(fields: Fields, tree: QueueTree, path: str) -> None:
    """Change a queue and all queues below it so that they describe the tree."""
    queue = tree[path]
    current = read_queue(fields, path, NoteCollector())
    if queue.parent_declared != current.parent_declared:
        _set(fields, "parent", True if queue.parent_declared else None)
    _merge_settings(fields, current, queue)
    queue_properties = [setting for setting in PROPERTIES if not setting.in_template]
    _merge_properties(fields, _properties(current, queue_properties), _properties(queue, queue_properties))
    _merge_template(fields, current.template, queue.template)
    _merge_children(fields, tree, path)


def _merge_template(fields: Fields, current: Settings | None, desired: Settings | None) -> None:
    if desired is None:
        if current is not None:
            del fields[TEMPLATE]
        return
    template = fields.get(TEMPLATE)
    template = fields[TEMPLATE] = CommentedMap() if template is None else template
    _merge_settings(template, current or Settings(), desired)
    if read_queue(fields, "", NoteCollector()).template is None:  # a template without settings would not count
        template["properties"] = CommentedMap({BY_NAME["preemption_policy"].yunikorn: str(desired.preemption_policy)})


def _merge_settings(fields: Fields, current: Settings, desired: Settings) -> None:
    """Write the settings that queues and templates have in common."""
    _merge_amounts(fields, "guaranteed", current.guaranteed, desired.guaranteed)
    _merge_amounts(fields, "max", current.max, desired.max)
    common = [setting for setting in PROPERTIES if setting.in_template]
    current_properties, desired_properties = (
        _properties(settings, common) | _lending(settings) for settings in (current, desired)
    )
    _merge_properties(fields, current_properties, desired_properties)


def _merge_amounts(fields: Fields, key: str, current: Amounts, desired: Amounts) -> None:
    if current == desired:
        return
    resources = fields.get("resources")
    resources = fields["resources"] = CommentedMap() if resources is None else resources
    texts = resources.get(key)
    texts = resources[key] = CommentedMap() if texts is None else texts
    names = {our_resource(str(name)): name for name in texts}
    sample = next(iter(texts.values()), None)
    for name in [name for name in texts if our_resource(str(name)) not in desired]:
        del texts[name]
    for resource, amount in desired.items():
        if current.get(resource) != amount:
            name = names.get(resource, VCORE if resource == CPU else resource)
            texts[name] = typed_like(format_amount(resource, amount), texts.get(name, sample))
    _drop_if_empty(resources, key)
    _drop_if_empty(fields, "resources")


def _merge_properties(fields: Fields, have: Mapping[str, str | None], want: Mapping[str, str | None]) -> None:
    changes = {key: value for key, value in want.items() if have[key] != value}
    if not changes:
        return
    properties = fields.get("properties")
    properties = fields["properties"] = CommentedMap() if properties is None else properties
    for key, value in changes.items():
        _set(properties, key, value)
    _drop_if_empty(fields, "properties")


def _properties(queue: Settings, settings: Iterable[QueueSetting]) -> dict[str, str | None]:
    """Return the text of the property of each of these settings; None if the setting has its default."""
    return {setting.yunikorn: _text_of(setting, queue) if setting.is_set(queue) else None for setting in settings}


def _text_of(setting: QueueSetting, queue: Settings) -> str:
    value = write_settings(queue, [setting])[setting.name]
    match setting.kind:
        case Kind.NAMES:
            return ",".join(value)
        case Kind.FLAG:
            return str(value).lower()
        case _:
            return str(value)


def _lending(queue: Settings) -> dict[str, str | None]:
    settings = write_settings(queue, LENDING_SETTINGS)
    return {LENDING_PROPERTY: json.dumps(settings, sort_keys=True) if settings else None}


def _merge_children(fields: Fields, tree: QueueTree, path: str) -> None:
    """Change the queues under ``fields`` to the children of ``path`` in the tree; new queues come last."""
    children = fields.get("queues") or []
    before: _Queues = {f"{path}.{child['name']}": child for child in children}
    ordered = dict.fromkeys((*(child for child in before if child in tree), *tree.children[path]))
    for child in ordered:
        if child not in before:
            before[child] = CommentedMap(name=tree[child].name)
        _merge(before[child], tree, child)
    after = [before[child] for child in ordered]
    if [id(child) for child in after] != [id(child) for child in children]:
        fields["queues"] = CommentedSeq(after)
        _drop_if_empty(fields, "queues")


def _set(fields: Fields, key: str, value: Any) -> None:
    if value is None:
        fields.pop(key, None)
    else:
        fields[key] = value


def _drop_if_empty(fields: Fields, key: str) -> None:
    if not fields[key]:
        del fields[key]
