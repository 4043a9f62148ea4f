"""`python -m tests.api.settings_table`: docs/api.md gets the table of a queue's settings as the product has it now."""

import re
from pathlib import Path

from engine.model.queue_settings import SETTINGS, Kind, QueueSetting

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
_BEGIN, _END = "<!-- settings of queues -->\n", "<!-- /settings of queues -->\n"
_HOLDS = {
    Kind.AMOUNTS: "resource to amount",
    Kind.DURATION: "`1m30s`",
    Kind.INTEGER: "a whole number",
    Kind.FLAG: "`true`, `false`",
    Kind.WEIGHT: "`2`, `0.5`",
    Kind.NAMES: "a list",
}


def table() -> str:
    """The table in Markdown."""
    head = "| member | holds | what it does | `queues.yaml` | Kueue |\n| --- | --- | --- | --- | --- |\n"
    path = "| `path` | | The path from `root`. All parent queues must be in the document, too. | `name` | |\n"
    template = (
        "| `template` | settings | The settings of dynamic leaf queues below it: all of these except "
        f"{_listed([one.name for one in SETTINGS if not one.in_template])}. | `childtemplate` | |\n"
    )
    return head + path + "".join(map(_row, SETTINGS)) + template


def _row(setting: QueueSetting) -> str:
    holds = ", ".join(f"`{value}`" for value in setting.values) or _HOLDS[setting.kind]
    where = " Only for leaf queues." if setting.leaf_only else ""
    others = " | ".join(f"`{name}`" if name else "" for name in (setting.yunikorn, setting.kueue))
    return f"| `{setting.name}` | {holds} | {setting.help}{where} | {others} |\n"


def _listed(names: list[str]) -> str:
    *first, last = (f"`{name}`" for name in ("path", *names))
    return f"{', '.join(first)} and {last}"


def documented() -> str:
    """The table that docs/api.md has."""
    return PAGE.read_text().partition(_BEGIN)[2].partition(_END)[0]


def main() -> None:
    """Write it."""
    text = PAGE.read_text()
    PAGE.write_text(re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}{table()}{_END}", text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
