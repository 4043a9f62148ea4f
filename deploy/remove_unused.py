# ruff: noqa: INP001 - a script, run by its path
"""Remove the modules of the Kubernetes client that the product does not use: run while the image is built.

The client has a module for each version of each API group, 70 MB with the asynchronous ones. It loads a module when its
class is first used, as in ``client.CoreV1Api``. This loads all that the product names, which also compiles them.
"""

import ast
import importlib
import os
import pkgutil
import shutil
import sys
from pathlib import Path

import django
import kubernetes.client

PACKAGES = ("engine", "scheduler_admin")


def import_all() -> None:
    """Import every module of the product."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
    sys.path.insert(0, "")
    django.setup()
    for package in PACKAGES:
        for module in pkgutil.walk_packages([package], f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def use_all() -> None:
    """Load every class of the client that the product's sources name."""
    sources = (file.read_text(encoding="utf-8") for package in PACKAGES for file in Path(package).rglob("*.py"))
    for tree in (ast.parse(text) for text in sources if "from kubernetes import client\n" in text):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "client":
                getattr(kubernetes.client, node.attr)


def remove(client: Path) -> None:
    """Remove what was not loaded from the folder of the client."""
    for file in (client / "api").glob("*_api.py"):
        if f"kubernetes.client.api.{file.stem}" not in sys.modules:
            file.unlink()
    shutil.rmtree(client.parent / "aio", ignore_errors=True)


if __name__ == "__main__":
    import_all()
    use_all()
    remove(Path(kubernetes.client.__file__).parent)
