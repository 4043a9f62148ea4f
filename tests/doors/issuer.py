"""A small issuer of ID tokens, as the platform of a pipeline has: its configuration, its keys, and any token."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.waiting import join

SITE = "https://scheduler.example.com"
MAIN = "repo:example/queues:ref:refs/heads/main"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Issuer:
    """One that listens at ``address``. ``asked`` are the paths that somebody read."""

    address: str
    asked: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    """Path -> what is said there; bytes are sent as they are, a number is a status."""

    def token(self, algorithm: str = "RS256", *, key: Any = None, headers: Any = None, **claims: Any) -> str:
        """Return a token that is good for five minutes, unless ``claims`` say otherwise; None leaves one out."""
        now = int(time.time())
        said = {
            "iss": self.address,
            "sub": MAIN,
            "aud": SITE,
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            "repository": "example/queues",
            "ref": "refs/heads/main",
            **claims,
        }
        held = {name: value for name, value in said.items() if value is not None}
        signing = KEYS.get(algorithm) if key is None else key
        return jwt.encode(held, signing, algorithm=algorithm, headers={"kid": algorithm, **(headers or {})})


def published(*names: str) -> list[dict[str, Any]]:
    """Return public keys, as an issuer shows them."""
    return [
        {**jwt.get_algorithm_by_name(name).to_jwk(KEYS[name].public_key(), as_dict=True), "kid": name, "alg": name}
        for name in names or KEYS
    ]


@contextmanager
def issuing() -> Iterator[Issuer]:
    """One that listens until the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            answer = issuer.answers.get(self.path, 404)
            status, body = (answer, b"") if isinstance(answer, int) else (200, answer)
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{issuer.address}/keys")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
    issuer.answers["/.well-known/openid-configuration"] = {
        "issuer": issuer.address,
        "jwks_uri": f"{issuer.address}/keys",
    }
    issuer.answers["/keys"] = {"keys": published()}
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        join(thread, "the issuer has ended")
