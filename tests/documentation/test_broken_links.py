"""Links that lead nowhere are found, and no others."""

from pathlib import Path

import pytest

from tests.documentation.broken_links import broken_links


def found(site: Path, body: str) -> list[str]:
    """Return what is wrong with the links of a page, beside which there are another page, a picture and a folder."""
    (site / "other").mkdir()
    (site / "other" / "index.html").write_text('<h1 id="top">Other</h1>', encoding="utf-8")
    (site / "picture.png").write_bytes(b"")
    (site / "index.html").write_text(f'<p id="here">{body}</p>', encoding="utf-8")
    return [*broken_links(site)]


@pytest.mark.parametrize(
    "target",
    ["other/", "other/#top", "#here", "picture.png", "https://example.com/x", "mailto:a@example.com", "data:,x"],
)
def test_a_link_that_leads_somewhere(tmp_path: Path, target: str) -> None:
    assert found(tmp_path, f'<a href="{target}">x</a>') == []


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('<a href="nothing/">x</a>', "'nothing/' has no file"),
        ('<a href="other/#nothing">x</a>', "'other/#nothing' has no such anchor"),
        ('<a href="#nothing">x</a>', "'#nothing' has no such anchor"),
        ('<img src="nothing.png">', "'nothing.png' has no file"),
        ('<a href="../outside">x</a>', "'../outside' has no file"),
        ('<a href="https://">x</a>', "'https://' is no address"),
        ('<a href="htps://example.com">x</a>', "'htps://example.com' is no address"),
        ('<script src="nothing.js"></script>', "'nothing.js' has no file"),
    ],
)
def test_a_link_that_leads_nowhere(tmp_path: Path, body: str, wrong: str) -> None:
    assert found(tmp_path, body) == [f"index.html: {wrong}"]
