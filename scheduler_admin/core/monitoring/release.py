"""The version of the product, and the revision of its sources if the build named one."""

import tomllib
from functools import cache

from django.conf import settings


@cache
def version() -> str:
    """Return the product's version, which only pyproject.toml states."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
