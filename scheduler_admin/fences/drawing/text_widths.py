"""How wide a text may get in any of the fonts that the pages use: rather too wide than too narrow."""

_SHARES = {
    "ijlI|'’": 0.31,
    " .,:;": 0.35,
    "!()[]/-frt": 0.43,
    "c": 0.55,
    "aegksvxyz": 0.62,
    "wMW": 0.95,
    "m@%…—": 1.0,
}
_SHARE = {char: share for chars, share in _SHARES.items() for char in chars}
"""Widths of characters as shares of the font's size, of DejaVu Sans and Verdana: the widest fonts of any system."""
_CAPITAL, _OTHER, _FULL = 0.78, 0.64, 1.0
_BOLD = 1.12
ELLIPSIS = "…"


def width(text: str, size: int, *, bold: bool = False) -> float:
    """The width in pixels at a font size in pixels."""
    return sum(map(_share, text)) * size * (_BOLD if bold else 1)


def _share(char: str) -> float:
    """The width of one character; beyond Latin letters, all of the font's size."""
    if char in _SHARE:
        return _SHARE[char]
    if ord(char) > 0x2FF:  # noqa: PLR2004 - the last of the Latin letters
        return _FULL
    return _CAPITAL if char.isupper() else _OTHER


def fitted(text: str, room: float, size: int) -> str:
    """The text, or as much of its beginning as there is room for, with an ellipsis."""
    if width(text, size) <= room:
        return text
    kept = text
    while kept and width(kept + ELLIPSIS, size) > room:
        kept = kept[:-1]
    return kept.rstrip() + ELLIPSIS


def shortened(name: str, room: float, size: int) -> str:
    """A bold name that is too long without its middle: names often differ at their ends."""
    kept = len(name)
    short = name
    while kept and width(short, size, bold=True) > room:
        kept -= 1
        short = name[: kept - kept // 2] + ELLIPSIS + name[len(name) - kept // 2 :]
    return short


def wrapped(text: str, room: float, size: int) -> list[str]:
    """The text in lines that have room, broken at blanks; a word that is too long by itself is cut."""
    lines: list[str] = []
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width(joined, size) <= room:
            lines[-1] = joined
        else:
            lines.append(word)
    return [fitted(line, room, size) for line in lines]
