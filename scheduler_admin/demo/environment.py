"""Where the demo lives and the environment that all its processes share. Runs before Django reads its settings."""

import fcntl
import json
import os
import secrets
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from cryptography.fernet import Fernet

from scheduler_admin.demo.progress import Progress

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
    def lock(self) -> Path:
        """Held while a demo lives here."""
        return self.folder / "lock"

    @property
    def environment(self) -> Path:
        """What its processes were started with, for commands that join it."""
        return self.folder / "environment.json"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def socket(self) -> Path:
        """Redis' socket; in the temporary folder, as a socket's path may have 107 characters at most."""
        return Path(tempfile.gettempdir()) / f"scheduler-admin-{os.getpid()}.sock"


_JOINED = (
    "SECRET_KEY", "CREDENTIALS_KEY", "DATABASE_URL", "REDIS_URL", "STATIC_ROOT", "SITE_URL", "INSECURE_HTTP",
    "LOG_LEVEL",
)  # fmt: skip


def prepare(arguments: list[str]) -> None:
    """Set the environment for ``manage.py demo`` with these arguments.

    Raises SystemExit, with a sentence, where there is no simulated cluster, as in the product's image, or no folder.
    """
    if find_spec("simulator") is None or find_spec("aiohttp") is None:
        sys.exit("The simulated cluster is not installed. Run the demo from a source checkout with make demo.")
    port = _value(arguments, "--port") or str(PORT)
    folder = Path(_value(arguments, "--folder") or BASE / "var" / "demo").resolve()
    place = Place(folder)
    simulator_port = _value(arguments, "--simulator-port") or str(int(port) + 1 if port.isdigit() else PORT + 1)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        sys.exit(f"The demo cannot write to {folder}: {error.strerror}. Choose another folder with --folder.")
    values = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "CREDENTIALS_KEY": Fernet.generate_key().decode(),
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


def load() -> None:
    """Import the application, which takes seconds when it runs for the first time, and show that meanwhile."""
    with Progress(sys.stderr).step("Loading Scheduler Admin"):
        import django  # noqa: PLC0415 - after the environment is set

        django.setup()
        import_module("scheduler_admin.demo.management.commands.demo")


def keep(place: Place) -> None:
    """Write down the environment, for the owner's eyes only, so that other commands may ``join``."""
    new = place.environment.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({name: os.environ[name] for name in _JOINED}, file)
    new.rename(place.environment)  # whole, for who reads it meanwhile


def join(place: Place = Place(BASE / "var" / "demo")) -> bool:
    """Take over the environment of the demo that runs in its usual folder; whether one does."""
    try:
        if _alive(place):
            os.environ.update(json.loads(place.environment.read_text()))
            return True
    except OSError:  # none ever ran here, or it is only just starting
        return False
    return False


def _alive(place: Place) -> bool:
    with place.lock.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _value(arguments: list[str], option: str) -> str:
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return ""
