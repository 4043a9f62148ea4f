"""A server of a few lines: it writes down what it is asked, and answers as it was told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    target: str
    headers: dict[str, str]


@dataclass
class Script:
    """What is answered, in turn, and what was asked."""

    answers: list[tuple[int, dict[str, str], str]]
    asked: list[Asked] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(*answers: tuple[int, dict[str, str], str]) -> Iterator[Script]:
    """Serve these answers; the last one is given as often as it is asked for."""
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.asked.append(
                Asked(self.command, self.path, {name.title(): value for name, value in self.headers.items()})
            )
            status, headers, body = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body.encode())), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_PUT = do_CONNECT = answer  # noqa: N815 - names of the base class

        def log_message(self, *args: object) -> None:
            """Nothing: the requests are written down."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
