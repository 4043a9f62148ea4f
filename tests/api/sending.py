"""Trees as they are sent: in our own form, or as a queues.yaml."""

import json
from typing import Any
from urllib.parse import urlencode

from rest_framework.test import APIClient

from scheduler_admin.queues.models import Revision

PROD = "/api/v1/hierarchies/prod-tree/tree"
NEW = "/api/v1/hierarchies/new/tree"
MAIN = "/api/v1/hierarchies/main/tree"
SMALL = {"queues": [{"path": "root"}, {"path": "root.a", "guaranteed": {"cpu": "2"}}]}
YAML = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a  # the first
            submitacl: everyone
            resources: {guaranteed: {vcore: 2}}
"""


def own_form(client: APIClient, url: str = PROD) -> Any:
    """The tree in force, to be changed and sent back."""
    return client.get(url).json()


def queue_of(document: Any, path: str) -> Any:
    """One queue of a document of our own form."""
    return next(queue for queue in document["queues"] if queue["path"] == path)


def put(
    client: APIClient, document: Any, /, url: str = PROD, *, match: str = "", none_match: str = "", **query: Any
) -> Any:
    """Send a tree: a text is a queues.yaml, bytes are sent as they are as JSON, everything else is made JSON."""
    yaml = isinstance(document, str)
    body = document if isinstance(document, str | bytes) else json.dumps(document)
    headers = {"If-Match": match, "If-None-Match": none_match}
    return client.put(
        f"{url}?{urlencode({'reason': 'a test', **query}, doseq=True)}",
        body,
        content_type="application/yaml" if yaml else "application/json",
        headers={name: value for name, value in headers.items() if value},
    )


def plan(client: APIClient, document: Any, url: str = PROD, **headers: str) -> Any:
    """What sending it would do."""
    return put(client, document, url, dry_run="true", **headers)


def errors(response: Any) -> list[Any]:
    """The errors of a problem, their sentences left out."""
    said = {"detail", "remedy"}
    return [{key: value for key, value in error.items() if key not in said} for error in response.json()["errors"]]


def revisions() -> list[int]:
    """The numbers of all there are."""
    return sorted(Revision.objects.filter(hierarchy__name="prod-tree").values_list("number", flat=True))
