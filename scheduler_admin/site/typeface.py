"""The typeface of the pages: Inter out of its package, cut down to the characters that they use."""

import os
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

FILE = "inter.woff2"
_CHARACTERS = (
    *range(0x20, 0x180),  # Latin, with the letters of Europe's names
    *range(0x2010, 0x2028),  # dashes, quotation marks, the ellipsis
    *map(ord, "′″←↑→↓−≈≠≤≥∞×▲▼▶◀✓€"),
)
_FEATURES = ("calt", "case", "ccmp", "kern", "locl", "mark")
_WEIGHTS = (400, 600)
_SIZE = 14
"""The optical size: the pages set no text much larger than this, in pixels."""


def typeface_folder(cache: Path) -> Path:
    """Return the folder below ``cache`` that holds the font file; make the file where it is missing.

    Making it takes about three seconds, so it is kept until the package or what is taken of it changes.
    """
    recipe = repr((version("fontpkg-inter"), version("fonttools"), _CHARACTERS, _FEATURES, _WEIGHTS, _SIZE))
    folder = cache / f"inter-{sha256(recipe.encode()).hexdigest()[:12]}"
    if not (folder / FILE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        _cut(folder / FILE)
    return folder


def _cut(target: Path) -> None:
    """Write the font of these characters, weights and features; two processes can do so at once.

    Digits are all of one width, so that numbers line up in columns. The font's own feature for that makes hyphens as
    wide, which tears names apart.
    """
    from fontTools import subset  # noqa: PLC0415 - the product's image has the font, and not what makes it
    from fontTools.ttLib import TTFont  # noqa: PLC0415
    from fontTools.varLib import instancer  # noqa: PLC0415

    font = TTFont(_source(), lazy=True)
    glyphs = font.getBestCmap()
    digits = {code: f"{glyphs[code]}.tf" for code in map(ord, "0123456789")}
    for table in font["cmap"].tables:
        table.cmap.update(digits)
    options = subset.Options(layout_features=list(_FEATURES), hinting=False)
    options.name_IDs = [0, 1, 2, 13, 14]  # its names, and its licence
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=_CHARACTERS)
    subsetter.subset(font)
    font = instancer.instantiateVariableFont(font, {"opsz": _SIZE, "wght": _WEIGHTS}, inplace=True)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    unfinished = target.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(made.getvalue())
    unfinished.replace(target)


def _source() -> Path:
    spec = find_spec("fontpkg_inter")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "files" / "Inter[opsz,wght].ttf"
