"""Uses the site at $SITE by the package that openapi-python-client made, and prints what it saw as JSON."""

import json
import os

from scheduler_admin_rest_api_client import AuthenticatedClient
from scheduler_admin_rest_api_client.api.clusters import get_cluster, list_clusters
from scheduler_admin_rest_api_client.api.decisions import list_decisions
from scheduler_admin_rest_api_client.api.site import create_tenant, create_user
from scheduler_admin_rest_api_client.api.tokens import create_token, list_tokens
from scheduler_admin_rest_api_client.api.trees import create_tree, get_tree, lint_document, replace_tree
from scheduler_admin_rest_api_client.models import (
    DocumentTextRequest,
    ListDecisionsFieldsItem,
    NewTokenRequest,
    Problem,
    ReplaceTreeFailOnItem,
    TenantWriteRequest,
    TreeRequest,
    UserWriteRequest,
)

ME = "openapi-python-client"
client = AuthenticatedClient(base_url=os.environ["SITE"], token=os.environ["TOKEN"])
yaml = DocumentTextRequest(text=os.environ["YAML"])

clusters = list_clusters.sync(client=client)
fields = [ListDecisionsFieldsItem.ID, ListDecisionsFieldsItem.OUTCOME]
decisions = list_decisions.sync("prod", client=client, fields=fields)
token = create_token.sync_detailed(client=client, body=NewTokenRequest(name=ME))
tokens = list_tokens.sync(client=client)
tenant = create_tenant.sync_detailed(client=client, body=TenantWriteRequest(name=ME), reason="a test")
user = create_user.sync(client=client, body=UserWriteRequest(name=ME, email=f"{ME}@example.com"), reason="a test")
read = get_tree.sync_detailed("prod-tree", client=client)
changed = TreeRequest.from_dict(read.parsed.to_dict())
changed.queues[-1].delay = os.environ["DELAY"]
ruled_out = replace_tree.sync_detailed(
    "prod-tree",
    client=client,
    body=changed,
    if_match=read.headers["ETag"],
    reason="a test",
    fail_on=[ReplaceTreeFailOnItem.LOOPS, ReplaceTreeFailOnItem.UNKNOWN],
)
put = replace_tree.sync("prod-tree", client=client, body=changed, if_match=read.headers["ETag"], reason="a test")
late = replace_tree.sync("prod-tree", client=client, body=yaml, if_match=read.headers["ETag"], reason="a test")
made = create_tree.sync_detailed(ME, client=client, body=yaml, reason="a test")
lint = lint_document.sync(client=client, body=yaml)
problem = get_cluster.sync("nowhere", client=client)
assert isinstance(late, Problem)
assert isinstance(problem, Problem)
print(  # noqa: T201
    json.dumps(
        {
            "clusters": [one.name for one in clusters.results],
            "decisions": [one.outcome for one in decisions.results],
            "token": [token.parsed.token[:3], token.headers["Location"].rpartition("/")[2] == str(token.parsed.id)],
            "tokens": ME in [one.name for one in tokens.results],
            "tenant": [tenant.parsed.name, tenant.headers["Location"].rpartition("/")[2]],
            "user": [user.name, user.email, user.role],
            "ruled out": [ruled_out.parsed.type_, ruled_out.parsed.result.changed],
            "tree": [put.changed, put.changes[0].queue, put.changes[0].after],
            "late": [late.type_, late.status],
            "made": [made.parsed.revision, made.headers["Location"].rpartition("/api")[2]],
            "lint": isinstance(lint.results, list),
            "problem": [problem.type_, problem.status],
        }
    )
)
