# ruff: noqa: INP001 - a script, run by its path
"""Whether the server in this container answers: `python deploy/healthy.py [port] [path]`.

Anything below 500 is alive: a redirect to TLS, or a refusal of the name that we ask by, is an answer too.
"""

import http.client
import sys

TIMEOUT_S = 5


def main(port: str = "8000", path: str = "/sign-in/") -> int:
    """0 when it answers, else 1 with the reason."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT_S)
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"no answer: {error}\n")
        return 1
    if status >= http.client.INTERNAL_SERVER_ERROR:
        sys.stderr.write(f"answered {status}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
