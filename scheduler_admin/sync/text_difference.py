"""The difference between two long texts, in lines, as ``diff -u`` writes it."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

SECTION = 2_000
"""So many lines are compared at once: a text of a large tree repeats few different lines hundreds of thousand times."""
Code = tuple[str, int, int, int, int]
"""As of SequenceMatcher: what becomes of lines of the text before, which these are, and which of the text after."""


class _Grouped(SequenceMatcher[str]):
    """Groups codes that were found by other means, with three lines around each change."""

    def __init__(self, codes: Sequence[Code]) -> None:
        super().__init__()
        self._codes = codes

    def get_opcodes(self) -> list[Code]:  # type: ignore[override]
        return list(self._codes)


def difference(before: str, after: str, most: int) -> Iterator[str]:
    """Yield the lines of the difference, without the names of files; beyond ``most`` changed lines it may end."""
    old, new = before.splitlines(), after.splitlines()
    for group in _Grouped(list(_codes(old, new, most))).get_grouped_opcodes():
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@"
        for kind, first, last, new_first, new_last in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[first:last])
                continue
            yield from (f"-{line}" for line in old[first:last])
            yield from (f"+{line}" for line in new[new_first:new_last])


def _range(first: int, last: int) -> str:
    length = last - first
    if length == 1:
        return f"{first + 1}"
    return f"{first + 1 if length else first},{length}"


def _codes(old: Sequence[str], new: Sequence[str], most: int) -> Iterator[Code]:
    at, new_at, changed = 0, 0, 0
    while (at < len(old) or new_at < len(new)) and changed <= most:
        same = _same(old, new, at, new_at)
        if same:
            yield "equal", at, at + same, new_at, new_at + same
            at, new_at = at + same, new_at + same
            continue
        codes = _section(old, new, at, new_at)
        for kind, first, last, new_first, new_last in codes:
            yield kind, at + first, at + last, new_at + new_first, new_at + new_last
            changed += (last - first + new_last - new_first) * (kind != "equal")
        at, new_at = at + codes[-1][2], new_at + codes[-1][4]


def _same(old: Sequence[str], new: Sequence[str], at: int, new_at: int) -> int:
    """How many lines are the same from two places on."""
    most = min(len(old) - at, len(new) - new_at)
    return next((n for n in range(most) if old[at + n] != new[new_at + n]), most)


def _section(old: Sequence[str], new: Sequence[str], at: int, new_at: int) -> list[Code]:
    """The codes from two places on, up to lines that are the same again."""
    end, new_end = at + SECTION, new_at + SECTION
    codes: list[Code] = SequenceMatcher(None, old[at:end], new[new_at:new_end]).get_opcodes()  # type: ignore[assignment]
    if end >= len(old) and new_end >= len(new):
        return codes
    last = max((place for place, code in enumerate(codes) if code[0] == "equal"), default=len(codes))
    return codes[:last] or codes
