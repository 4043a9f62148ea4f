#!/usr/bin/env python
"""Django's command line."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
    if sys.argv[1:2] == ["demo"]:
        from scheduler_admin.demo.environment import load, prepare

        prepare(sys.argv[2:])
        load()
    elif "SECRET_KEY" not in os.environ:
        from scheduler_admin.demo.environment import join

        if join():
            sys.stderr.write("Using the settings of the running demo.\n")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
