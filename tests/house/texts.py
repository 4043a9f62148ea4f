"""Finds texts for people that are hard to read, in catalogues and docs: unknown words and long sentences."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from babel.messages.pofile import read_po

from tests.house.words import Finding

MOST_WORDS = 30
"""A sentence of more words has to be read twice."""
UNKNOWN_WORDS: Mapping[str, str] = {
    r"askers?|an ask|the asks?|(?:its|whose|other|of|’s) asks|asks (?:wait|may|can)": "pending pod",
    r"givers?": "victim’s queue",
    r"laws? \d|laws?": "safety check; name the rule itself",
    r"interlocks?": "safeguard",
    r"reprieved": "spared",
    r"foretold|foretells?": "forecast",
    r"hindsight": "replay",
    r"overtaken": "superseded",
    r"two brains": "two schedulers that preempt",
    r"on (?:its|their) way out": "terminating",
    r"thrown away": "lost work, discarded",
    r"(?:came?|comes?|put|is|are|be) (?:in|into) force": "published, current, in effect",
    r"may go|must go|has to go|have to go|went in vain": "can be preempted, is evicted",
    r"stands? (?:below|above|where|how|for|before|in place)": "is below, is above, means",
    r"(?:is|are|was|were|be) told|tells? (?:of|apart)": "is notified, reports",
    r"nobody may|somebody(?: else)?|by now|thereby|whatever|of whom|as one": "plain words",
    r"take[ns]? (?:away|down|over from)|took away": "remove",
    r"heeds?|heeded": "respects",
    r"odd (?:objects?|ones?)": "unreadable objects",
    r"makes? do|goes? on|went on|going on": "continue",
    r"(?:is|are) called so": "the name itself",
    r"the other way round": "the sentence itself",
}
"""Words that a platform engineer does not expect -> what to write instead."""
UNKNOWN_CHINESE: Mapping[str, str] = {
    "保障[量额]": "保证量",
    "中断预算": "干扰预算",
    "法则": "安全检查",
    "联锁": "保护措施",
    r"[\u4e00-\u9fff](?: ?[,;?!](?=[^\d/]|$)|:(?=[^\d/]|$)|\.(?=\s|$))": "full-width punctuation",
}
"""Chinese that is worded otherwise elsewhere -> what to write instead."""
_UNKNOWN = [(re.compile(rf"\b(?:{word})\b", re.IGNORECASE), instead) for word, instead in UNKNOWN_WORDS.items()]
_CHINESE = [(re.compile(word), instead) for word, instead in UNKNOWN_CHINESE.items()]
_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def hard_words(path: Path, line: int, text: str) -> Iterator[Finding]:
    """Yield the words of an English text that its readers do not know."""
    for word, instead in _UNKNOWN:
        if found := word.search(_PLACEHOLDER.sub("X", text)):
            yield Finding(path, line, f"{found.group(0)!r} in {text[:70]!r}: write {instead}")


def long_sentences(path: Path, line: int, text: str) -> Iterator[Finding]:
    """Yield the sentences of an English text that are too long."""
    for sentence in re.split(r"(?<=[.?!:])[\s)]+(?=[A-Z“`(\[*])", text):
        if (words := len(re.findall(r"[\w`’'%()./:-]*\w[\w`’'%()./:-]*", sentence))) > MOST_WORDS:
            yield Finding(path, line, f"a sentence of {words} words: {sentence[:70]!r}")


def catalogue_findings(path: Path) -> Iterator[Finding]:
    """Yield what is hard to read in the English and the Chinese texts of a message catalogue."""
    with path.open("rb") as file:
        catalogue = read_po(file)
    for message in catalogue:
        if not message.id:
            continue
        for text in [message.id] if isinstance(message.id, str) else message.id:
            yield from hard_words(path, message.lineno or 0, text)
            yield from long_sentences(path, message.lineno or 0, text)
        for text in [message.string] if isinstance(message.string, str) else message.string:
            for word, instead in _CHINESE:
                if found := word.search(text):
                    yield Finding(path, message.lineno or 0, f"{found.group(0)!r} in {text[:70]!r}: write {instead}")


def document_findings(path: Path) -> Iterator[Finding]:
    """Yield what is hard to read in a Markdown document: code is skipped, each cell of a table is a text of its own."""
    text = _CODE.sub(lambda code: "\n" * code.group(0).count("\n"), path.read_text())
    for line, paragraph in _paragraphs(text):
        yield from hard_words(path, line, re.sub(r"`[^`]*`", "`X`", paragraph))
        yield from long_sentences(path, line, re.sub(r"\]\([^)]*\)", "]", paragraph))


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, list item, heading and table cell with its line."""
    paragraph: list[str] = []
    begins = 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if re.match(r"\s*(?:$|\||[-*] |\d+\. |#|>)", line):
            if paragraph:
                yield begins, " ".join(paragraph)
            paragraph = []
        if line.lstrip().startswith("|"):
            yield from ((number, cell.strip()) for cell in line.strip().strip("|").split(" | "))
        elif line.strip():
            begins = begins if paragraph else number
            paragraph.append(line.strip())
