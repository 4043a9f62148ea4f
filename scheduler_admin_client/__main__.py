"""``python -m scheduler_admin_client``."""

import sys

from scheduler_admin_client.commands import main

if __name__ == "__main__":
    sys.exit(main())
