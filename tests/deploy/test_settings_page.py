"""docs/settings.md says what the sources say."""

import subprocess
import sys

import pytest

from tests.deploy.settings_page import BASE, PAGE, SOURCE, defaults, explained, page
from tests.deploy.test_compose import variables
from tests.waiting import PATIENCE_S

FLAG = "0 or 1"


def test_the_page_is_what_the_sources_say() -> None:
    """``make settings-page`` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_variable_that_is_read_has_a_unit_and_a_reason() -> None:
    """All of them, each once, and none that nothing reads."""
    source = SOURCE.read_text(encoding="utf-8")
    told = explained(source)
    assert set(told) == set(defaults(source)) == variables()
    assert all(one.unit and one.text.endswith(".") for one in told.values())


def test_units_are_those_of_what_reads_them() -> None:
    """A flag is 0 or 1, and nothing else is."""
    source = SOURCE.read_text(encoding="utf-8")
    flags = {name for name in variables() if f'read_flag("{name}"' in source}
    assert flags
    assert {name for name, one in explained(source).items() if one.unit == FLAG} == flags


@pytest.mark.parametrize(
    ("code", "default"),
    [
        ('X = read_flag("X")', "`0`"),
        ('X = read_number("X", 7)', "`7`"),
        ('X = os.environ.get("X", "")', "none"),
        ('X = os.environ.get("X") or "a b"', "`a b`"),
        ('X = os.environ.get("X", f"sqlite:///{BASE_DIR / \'var\'}")', "`sqlite:///CHECKOUT/var`"),
        ('X = os.environ.get("X", "")\nif not X:\n    raise ImproperlyConfigured', "required"),
        ('X = read_with_issuer("X")', "required with `OIDC_ISSUER`"),
    ],
)
def test_defaults_are_the_codes(code: str, default: str) -> None:
    """However they are written down."""
    assert defaults(code) == {"X": default}


def test_a_second_comment_is_no_way_to_say_two_things() -> None:
    """It is said once what a variable does."""
    with pytest.raises(ValueError, match="A_B"):
        explained("# A_B (text): one.\nx = 1\n# A_B (text): another.")


def test_what_a_number_may_not_be_is_named() -> None:
    """As the page says: the start stops, and tells of which variable."""
    environment = {"SECRET_KEY": "x", "INSECURE_HTTP": "1", "JOURNAL_MB": "many", "PATH": ""}
    command = [sys.executable, "-c", "import scheduler_admin.settings"]
    done = subprocess.run(
        command, cwd=BASE, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert "JOURNAL_MB is many" in done.stderr
