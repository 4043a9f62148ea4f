"""A draft of the version before, with a column for each setting, says the same once they are in one."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

migration = import_module("scheduler_admin.queues.migrations.0005_settings")
EMPTY: dict[str, Any] = (
    dict.fromkeys(migration.TEXTS, "")
    | dict.fromkeys(migration.FLAGS, False)
    | {field: {} for field in (*migration.AMOUNTS, "template")}
)
SAID: dict[str, Any] = {
    "guaranteed": {"cpu": "4"},
    "max": {"nvidia.com/gpu": "2"},
    "delay": "5 parsecs",
    "namespaces": "search, lab",
    "evict_uncontrolled": True,
    "take_borrowing": "false",
    "template": {"own": "true", "max/cpu": "1", "weight": "2"},
}


def test_what_was_typed_is_kept_right_or_wrong() -> None:
    assert migration.typed(SimpleNamespace(**EMPTY | SAID)) == {
        "guaranteed/cpu": "4",
        "max/nvidia.com/gpu": "2",
        "delay": "5 parsecs",
        "namespaces": "search, lab",
        "evict_uncontrolled": "true",
        "take_borrowing": "false",
        "template/own": "true",
        "template/max/cpu": "1",
        "template/weight": "2",
    }
    assert migration.typed(SimpleNamespace(**EMPTY)) == {}


def test_the_way_back_comes_to_the_same() -> None:
    typed = migration.typed(SimpleNamespace(**EMPTY | SAID))
    assert EMPTY | migration.untyped(SimpleNamespace(settings=typed)) == EMPTY | SAID
