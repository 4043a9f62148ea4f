"""The documents of this repository, and where their links lead."""

import re
from pathlib import Path

BASE = Path(__file__).resolve().parents[2]
DOCS = BASE / "docs"
DOCUMENTS = (
    *sorted(DOCS.rglob("*.md")),
    *sorted(BASE.glob("*.md")),
    BASE / "deploy" / "chart" / "README.md",
    BASE / "scheduler_admin_client" / "README.md",
)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def name(path: Path) -> str:
    """Return the path of a file within the repository."""
    return str(path.relative_to(BASE))


def prose(text: str) -> str:
    """Return a document without its blocks of code."""
    return _FENCE.sub("", text)


def targets(text: str) -> list[str]:
    """Return where the links and pictures of a document lead, as they are written."""
    return _LINK.findall(prose(text))


def is_external(target: str) -> bool:
    """Tell whether a link leaves the repository."""
    return ":" in target.split("/", maxsplit=1)[0]


def links(path: Path) -> list[Path]:
    """Return the files and folders to which the relative links of a document lead, without their anchors."""
    found = [target.partition("#")[0] for target in targets(path.read_text(encoding="utf-8"))]
    return [(path.parent / target).resolve() for target in found if target and not is_external(target)]


def anchors(text: str) -> list[str]:
    """Return the anchors of a document's headings, in order, as Git servers make them."""
    heads = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    words = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in heads]
    return [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in words]
