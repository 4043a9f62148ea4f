"""Documents that are nearly right: some value, key or piece of text in them is another than it may be."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import strategies as st

Place = tuple[Any, Any]
"""A mapping or list, and the key or index in it."""

TEXTS = (
    st.text(st.characters(), max_size=12)  # lone surrogates and NUL among them
    | st.sampled_from(
        ["", " ", "\0", "\ud800", "root.", ".", "root..a", "%", "%(x)s", "{0}", "a" * 600, "١٢", "🂡", "\x85"]
    )
    | st.sampled_from(
        ["9" * 400, "1e999", "-1e-999", "1e99999999", "0x1F", "NaN", "Infinity", "1_000", "12e", "9Ei", "-0"]
    )
    | st.sampled_from(["30s", "-1h", "9" * 90 + "h", "40%", "100.0001%", "1e9%", "2026-13-45T25:61:61Z", "(a+)+$", "["])
)
NUMBERS = st.sampled_from(
    [0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400]
) | st.sampled_from([0.5, -0.0, 1e308, float("inf"), float("-inf"), float("nan")])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS


def _deep(depth: int, listed: bool) -> Any:
    found: Any = "x"
    for _ in range(depth):
        found = [found] if listed else {"a": found}
    return found


VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=3)
    | st.dictionaries(TEXTS, SCALARS, max_size=3)
    | st.builds(_deep, st.sampled_from([3, 60, 120]), st.booleans())
)
TOKENS = (
    *"{}[]:,-?&*!|>%@`#'\"\n\t\0\ud800\ufeff\u2028\x85",
    *(
        "- ",
        ": ",
        "? ",
        "&a ",
        "*a",
        "<<: *a",
        "!!binary ",
        "!!float ",
        "!!int ",
        "!!set ",
        "!!python/object:os.system ",
        "--- ",
        "...",
    ),
    *(
        "[" * 30,
        "{a: " * 30,
        "%YAML 9.9\n",
        "9" * 400,
        "1e9999",
        "2026-13-45",
        "0b2",
        "0o9",
        "1:2:3",
        ".inf",
        "\\ud800",
        "\\",
    ),
)


def places(document: Any) -> Iterator[Place]:
    """Every place in a document, from its top down."""
    pending = [document]
    while pending:
        one = pending.pop()
        keys: Any = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            yield one, key
            pending.append(one[key])


def _changed(draw: Any, holder: Any, key: Any, others: list[Place]) -> None:
    """One change at one place."""
    match draw(st.sampled_from(["value", "value", "drop", "copy", "double", "rename", "wrap"])):
        case "value":
            holder[key] = draw(VALUES)
        case "drop":
            del holder[key]
        case "copy":  # what is right elsewhere
            there, other = draw(st.sampled_from(others))
            holder[key] = deepcopy(there.get(other) if isinstance(there, dict) else there[other])
        case "double" if isinstance(holder, list):
            holder.append(deepcopy(holder[key]))
        case "rename" if isinstance(holder, dict):
            holder[draw(TEXTS)] = holder.pop(key)
        case _:
            holder[key] = [holder[key]] if draw(st.booleans()) else {draw(TEXTS): holder[key]}


@st.composite
def mutated(draw: Any, seeds: list[Any]) -> Any:
    """One of the documents, with up to three places changed."""
    document = deepcopy(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            return draw(VALUES)
        holder, key = found[draw(st.integers(0, len(found) - 1))]
        _changed(draw, holder, key, found)
    return document


@st.composite
def spliced(draw: Any, seeds: list[str]) -> str:
    """One of the texts, with pieces cut out, doubled, moved, or put in."""
    text: str = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start, more = draw(st.integers(0, len(text))), draw(st.integers(0, 40))
        piece = text[start : start + more]
        match draw(st.sampled_from(["cut", "double", "move", "put", "put"])):
            case "cut":
                text = text[:start] + text[start + more :]
            case "double":
                text = text[:start] + piece + text[start:]
            case "move":
                to = draw(st.integers(0, len(text)))
                text = text[:to] + piece + text[to:]
            case _:
                text = text[:start] + draw(st.sampled_from(TOKENS) | TEXTS) + text[start:]
    return text


def as_json(document: Any) -> str:
    """As JSON has it, and as some write it: NaN, and lone surrogates as they are."""
    return json.dumps(document, ensure_ascii=False)


def as_yaml(documents: list[Any]) -> str:
    """In blocks."""
    return str(yaml.safe_dump_all(documents, allow_unicode=True, sort_keys=False))


def texts(seeds: list[str]) -> st.SearchStrategy[str]:
    """Documents in YAML that are nearly one of these, and any text."""
    parsed = [list(yaml.safe_load_all(seed)) for seed in seeds]
    made = mutated(parsed).map(lambda one: one if isinstance(one, list) else [one])
    written = made.map(as_yaml) | made.map(lambda one: "\n---\n".join(map(as_json, one)))
    return written | spliced(seeds) | st.text(st.characters(), max_size=80)


def data(seeds: list[Any]) -> st.SearchStrategy[bytes]:
    """Documents in JSON that are nearly one of these, and any bytes."""
    written = mutated(seeds).map(as_json) | spliced([as_json(one) for one in seeds])
    return written.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200)
