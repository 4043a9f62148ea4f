"""The environment in which a provider is set up: what is missing is named when the site starts."""

import os
import subprocess
import sys

import pytest

from scheduler_admin.demo.environment import BASE

WHOLE = {
    "OIDC_ISSUER": "https://id.example",
    "OIDC_CLIENT_ID": "scheduler-admin",
    "OIDC_CLIENT_SECRET": "secret-canary",
    "OIDC_AUTHORIZATION_ENDPOINT": "https://id.example/authorize",
    "OIDC_TOKEN_ENDPOINT": "https://id.example/token",
    "OIDC_JWKS_ENDPOINT": "https://id.example/keys",
}


def started(**changes: str) -> str:
    """What starting says; empty: it starts."""
    code = "import scheduler_admin.settings"
    environment = {**os.environ, "SECRET_KEY": "x", "INSECURE_HTTP": "0", **WHOLE, **changes}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE, env=environment, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().rpartition("\n")[2]


def test_a_whole_one_starts() -> None:
    """And empty texts, as Compose gives them, are what is not set."""
    assert started(OIDC_SCOPES="", OIDC_SIGN_ALGORITHM="", TOKEN_REVIEW_AUDIENCES="") == ""


@pytest.mark.parametrize("name", sorted(set(WHOLE) - {"OIDC_ISSUER"}))
def test_what_is_missing_is_named(name: str) -> None:
    """Each, and no secret."""
    said = started(**{name: ""})
    assert f"{name} is required" in said
    assert "canary" not in said


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("OIDC_TOKEN_ENDPOINT", "http://id.example/token", "OIDC_TOKEN_ENDPOINT must start with https://"),
        ("OIDC_SIGN_ALGORITHM", "HS256", "must be RS256 or ES256"),
    ],
)
def test_what_is_not_safe_is_refused(name: str, value: str, says: str) -> None:
    """Neither an address in the clear, nor a signature that the client could make itself."""
    assert says in started(**{name: value})
