"""deploy/chart/README.md, made of values.schema.json and values.yaml: ``make chart-readme`` writes it anew."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[2] / "deploy" / "chart"
PAGE = CHART / "README.md"
HEAD = """# Chart scheduler-admin

{description}

```sh
helm install scheduler-admin deploy/chart --namespace scheduler-admin --values values.yaml
```

[Install](../../docs/operations/install.md#on-kubernetes) shows what the Secret must contain, and the smallest
`values.yaml`. Unknown values are rejected. Needs Kubernetes {kube} or newer.

This page is generated from `values.schema.json` by `make chart-readme`.

| Value | Type | Default | Description |
| --- | --- | --- | --- |
"""
Schema = dict[str, Any]


def schema() -> Schema:
    """Return the schema of the values."""
    found: Schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    return found


def described(whole: Schema, part: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield each value that has no values inside, or whose description covers them, with its schema."""
    for name, value in part["properties"].items():
        place = f"{path}.{name}" if path else name
        resolved = whole["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else {}
        merged = {**resolved, **value}
        if "properties" in merged and "description" not in merged:
            yield from described(whole, merged, place)
        elif place != "global":  # Helm's own
            yield place, merged


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    whole = schema()
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    required = {"image.repository", "secret.name"}
    for place, value in described(whole, whole):
        default = defaults
        for name in place.split("."):
            default = default[name]
        shown = "required" if place in required else f"`{json.dumps(default)}`"
        yield f"| `{place}` | {_type(value)} | {shown} | {value['description']} |\n"


def _type(value: Schema) -> str:
    if "enum" in value:
        return " or ".join(f"`{one}`" for one in value["enum"])
    kinds = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return " or ".join(kind for kind in kinds if kind != "null")


def page() -> str:
    """Return the whole page."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    oldest = chart["kubeVersion"].removeprefix(">=").removesuffix(".0-0")
    return HEAD.format(description=chart["description"], kube=oldest) + "".join(rows())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
