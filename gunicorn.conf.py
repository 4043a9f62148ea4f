"""What gunicorn does in every installation; it reads this file by itself."""

import os
import tempfile
from typing import Any

os.environ.setdefault("LOCK_WAIT_S", "4")  # somebody waits for the answer; before the settings are read below

from scheduler_admin.settings import LOGGING

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
if _FOLDER not in os.environ:  # where the worker processes count requests together, before the first of them is there
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="scheduler-admin-metrics-")

preload_app = True  # loaded once, before the worker processes are forked, which share its memory
control_socket_disable = True  # nobody uses it, and its place cannot be written in the image
logconfig_dict: dict[str, Any] = LOGGING
