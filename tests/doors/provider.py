"""A small OpenID provider: `python -m tests.doors.provider` prints its address.

It signs everybody in at once, as the account that was put last (PUT /account), and does the code flow with PKCE as it
is written down: codes are good once, for the redirect and the verifier that they were asked with. PUT /fault makes it
err in one way.
"""

import base64
import gzip
import hashlib
import json
import secrets
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

CLIENT, SECRET = "scheduler-admin", "provider-secret-canary"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
}
SILENCE = Event()
"""Never set: who waits for it, waits until the process ends."""
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
state: dict[str, Any] = {"account": {}, "fault": "", "algorithm": "RS256", "codes": {}}


class Provider(BaseHTTPRequestHandler):
    """Its endpoints."""

    def do_GET(self) -> None:
        """Where people sign in, and the keys."""
        place = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(place.query).items()}
        if place.path == "/keys" and state["fault"] in ("endless", "packed"):
            self._say_without_end(packed=state["fault"] == "packed")
        elif place.path == "/keys":
            self._say(200, {"keys": [_public(name) for name in KEYS]})
        elif place.path == "/authorize":
            self._authorize(asked)
        else:
            self._say(404, {})

    def do_PUT(self) -> None:
        """The account that is signed in, the fault, or the algorithm."""
        state[self.path.strip("/")] = json.loads(self._body())
        self._say(200, {})

    def do_POST(self) -> None:
        """A code for a token."""
        sent = {name: values[0] for name, values in parse_qs(self._body()).items()}
        asked = state["codes"].pop(sent.get("code", ""), None)
        good = (
            asked
            and (sent["client_id"], sent["client_secret"]) == (CLIENT, SECRET)
            and sent["redirect_uri"] == asked["redirect_uri"]
            and _challenge(sent.get("code_verifier", "")) == asked["code_challenge"]
        )
        if state["fault"] == "silent":
            SILENCE.wait()
        if state["fault"] == "down":
            self._say(503, {"error": "temporarily_unavailable"})
        elif not good:
            self._say(400, {"error": "invalid_grant"})
        else:
            self._say(200, {"access_token": "access-canary", "token_type": "Bearer", "id_token": self._token(asked)})

    def _authorize(self, asked: dict[str, str]) -> None:
        assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (CLIENT, "code", "S256")
        if not state["account"]:
            answer = {"error": "login_required", "state": asked["state"]}
        else:
            code = secrets.token_urlsafe(8)
            state["codes"][code] = asked
            answer = {"code": code, "state": asked["state"]}
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(answer)}")
        self.end_headers()

    def _token(self, asked: dict[str, str]) -> str:
        now, fault, algorithm = int(time.time()), state["fault"], state["algorithm"]
        claims = {"iss": f"http://{self.headers['Host']}", "aud": CLIENT, "iat": now, "exp": now + 3600}
        claims |= {"nonce": asked["nonce"], **state["account"]}
        claims |= {
            "issuer": {"iss": "http://elsewhere"},
            "audience": {"aud": "another-client"},
            "party": {"aud": [CLIENT, "another-client"], "azp": "another-client"},
            "nonce": {"nonce": "another"},
            "expired": {"iat": now - 900, "exp": now - 600},
        }.get(fault, {})
        if fault == "unsigned":
            return jwt.encode(claims, None, algorithm="none", headers={"kid": "RS256"})
        if fault == "shared":  # signed with the client's secret, as if the algorithm were the token's to choose
            return jwt.encode(claims, SECRET, algorithm="HS256", headers={"kid": "RS256"})
        key = STRANGER if fault == "signature" else KEYS[algorithm]
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": algorithm})

    def _body(self) -> str:
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def _say_without_end(self, *, packed: bool) -> None:
        """Until nobody reads on; or blanks that are little until they are unpacked."""
        blanks = b" " * 2**16
        self.send_response(200)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with suppress(OSError):
            if packed:
                self.wfile.write(gzip.compress(blanks * 2**10))
            while not packed:
                self.wfile.write(blanks)

    def _say(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Nothing."""


def _public(name: str) -> dict[str, Any]:
    algorithm = jwt.get_algorithm_by_name(name)
    return {**algorithm.to_jwk(KEYS[name].public_key(), as_dict=True), "kid": name, "alg": name, "use": "sig"}


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdout.close()
    server.serve_forever()
