# ruff: noqa: INP001 - a script, run by its path
"""Check whether the server in this container responds: `python deploy/healthy.py [port] [path]`.

Any status below 500 counts as alive, also a redirect to HTTPS or a rejected host name.
"""

import http.client
import sys

TIMEOUT_S = 5


def main(port: str = "8000", path: str = "/sign-in/") -> int:
    """Return 0 if the server responds, else print the reason and return 1."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT_S)
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"No response: {error}\n")
        return 1
    if status >= http.client.INTERNAL_SERVER_ERROR:
        sys.stderr.write(f"The server responded with status {status}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
