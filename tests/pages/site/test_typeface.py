"""The typeface of the pages: what is in it, and how large it is."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import find
from fontTools.ttLib import TTFont

# What Inter itself does not have: the browser takes these from a font of the system.
NOT_IN_INTER = set("\u00ad")


@pytest.fixture(scope="module")
def font() -> TTFont:
    return TTFont(str(find("inter.woff2")))


def test_it_is_small_enough_to_arrive_with_the_page() -> None:
    assert Path(str(find("inter.woff2"))).stat().st_size < 40_000


def test_it_has_every_character_of_the_english_texts(font: TTFont) -> None:
    catalogue = Path("locale/zh_Hans/LC_MESSAGES/django.po").read_text(encoding="utf-8")
    messages = re.findall(r'^msgid(?:_plural)? ((?:"[^\n]*"\n)+)', catalogue, re.MULTILINE)
    used = {character for message in messages for character in message if character.isprintable()}
    assert len(used) > 80
    assert used - NOT_IN_INTER <= {chr(code) for code in font.getBestCmap()}


def test_its_digits_are_all_of_one_width_and_its_hyphen_is_not(font: TTFont) -> None:
    """Numbers line up in columns, and names are not torn apart at their hyphens."""
    glyphs, widths = font.getBestCmap(), font["hmtx"]
    of_digits = {widths[glyphs[ord(digit)]][0] for digit in "0123456789"}
    assert len(of_digits) == 1
    assert widths[glyphs[ord("-")]][0] < min(of_digits)


def test_it_has_the_weights_that_the_stylesheet_asks_for(font: TTFont) -> None:
    weight = next(axis for axis in font["fvar"].axes if axis.axisTag == "wght")
    stylesheet = Path("static/app.css").read_text(encoding="utf-8")
    assert f"font-weight: {weight.minValue:.0f} {weight.maxValue:.0f};" in stylesheet
    asked = {int(found) for found in re.findall(r"font-weight: (\d+)[;\s}]", stylesheet)}
    assert asked
    assert all(weight.minValue <= one <= weight.maxValue for one in asked)


def test_its_licence_is_in_it(font: TTFont) -> None:
    assert "SIL Open Font License" in str(font["name"].getDebugName(13))
