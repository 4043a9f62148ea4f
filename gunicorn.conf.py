"""What gunicorn does in every installation; it reads this file by itself."""

import os
import tempfile
from typing import Any

from scheduler_admin.settings import LOGGING

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

control_socket_disable = True  # nobody uses it, and its place cannot be written in the image
logconfig_dict: dict[str, Any] = LOGGING


def on_starting(server: object) -> None:
    """Make a folder where the worker processes count requests together, before the first of them is there."""
    del server
    os.environ.setdefault(_FOLDER, tempfile.mkdtemp(prefix="scheduler-admin-metrics-"))
