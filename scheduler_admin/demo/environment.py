"""Where the demo lives and the environment that all its processes share. Runs before Django reads its settings."""

import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent.parent
CLUSTER = "demo"
PORT = 8000


@dataclass(frozen=True)
class Place:
    """The demo's folder. It is made anew at every start: the simulated cluster begins anew too."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "db.sqlite3"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def socket(self) -> Path:
        """Redis' socket; in the temporary folder, as a socket's path may have 107 characters at most."""
        return Path(tempfile.gettempdir()) / f"scheduler-admin-{os.getpid()}.sock"


def prepare(arguments: list[str]) -> None:
    """Set the environment for ``manage.py demo`` with these arguments; what is set already is kept."""
    port = _value(arguments, "--port") or str(PORT)
    folder = Path(_value(arguments, "--folder") or BASE / "var" / "demo").resolve()
    place = Place(folder)
    simulator_port = _value(arguments, "--simulator-port") or str(int(port) + 1 if port.isdigit() else PORT + 1)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    values = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "DATABASE_URL": f"sqlite:///{place.database}",
        "REDIS_URL": f"redis+socket://{place.socket}",
        "STATIC_ROOT": str(folder / "static"),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "INSECURE_HTTP": "1",
        "SIMULATOR_URL": f"http://127.0.0.1:{simulator_port}",
        "SIMULATOR_CLUSTER": CLUSTER,
        "SIMULATOR_TOKEN": "",  # kubectl sends no credentials without TLS; it listens on this machine alone
        "LOG_LEVEL": "WARNING",
    }
    os.environ.update(values)


def _value(arguments: list[str], option: str) -> str:
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return ""
