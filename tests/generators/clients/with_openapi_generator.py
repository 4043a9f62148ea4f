"""Uses the site at $SITE by the package that openapi-generator made, and prints what it saw as JSON."""

import json
import os

from scheduler_admin_generated import ApiClient, Configuration
from scheduler_admin_generated.api.clusters_api import ClustersApi
from scheduler_admin_generated.api.decisions_api import DecisionsApi
from scheduler_admin_generated.api.site_api import SiteApi
from scheduler_admin_generated.api.tokens_api import TokensApi
from scheduler_admin_generated.api.trees_api import TreesApi
from scheduler_admin_generated.exceptions import ApiException
from scheduler_admin_generated.models import (
    DocumentTextRequest,
    NewTokenRequest,
    Problem,
    TenantWriteRequest,
    TreeDocumentRequest,
    TreeRequest,
    UserWriteRequest,
)

ME = "openapi-generator"
client = ApiClient(Configuration(host=os.environ["SITE"], access_token=os.environ["TOKEN"]))
yaml = TreeDocumentRequest(DocumentTextRequest(text=os.environ["YAML"]))
clusters_api, site, tokens_api, trees = ClustersApi(client), SiteApi(client), TokensApi(client), TreesApi(client)


def refused(call, *args, **kwargs):
    """The problem that a request is answered by."""
    try:
        call(*args, **kwargs)
    except ApiException as error:
        return Problem.from_json(error.body), json.loads(error.body)
    raise AssertionError(call)


clusters = clusters_api.list_clusters()
decisions = DecisionsApi(client).list_decisions("prod", fields=["id", "outcome"])
token = tokens_api.create_token_with_http_info(NewTokenRequest(name=ME))
tokens = tokens_api.list_tokens()
tenant = site.create_tenant_with_http_info(reason="a test", tenant_write_request=TenantWriteRequest(name=ME))
user = site.create_user(reason="a test", user_write_request=UserWriteRequest(name=ME, email=f"{ME}@example.com"))
read = trees.get_tree_with_http_info("prod-tree")
changed = TreeRequest.from_dict(read.data.to_dict())
changed.queues[-1].delay = os.environ["DELAY"]
body = TreeDocumentRequest(changed)
sent = {"name": "prod-tree", "if_match": read.headers["ETag"], "reason": "a test"}
_, ruled_out = refused(trees.replace_tree, **sent, tree_document_request=body, fail_on=["loops", "unknown"])
put = trees.replace_tree(**sent, tree_document_request=body)
late, _ = refused(trees.replace_tree, **sent, tree_document_request=yaml)
made = trees.create_tree_with_http_info(ME, reason="a test", tree_document_request=yaml)
lint = trees.lint_document(tree_document_request=yaml)
problem, _ = refused(clusters_api.get_cluster, "nowhere")
print(  # noqa: T201
    json.dumps(
        {
            "clusters": [one.name for one in clusters.results],
            "decisions": [one.outcome for one in decisions.results],
            "token": [token.data.token[:3], token.headers["Location"].rpartition("/")[2] == str(token.data.id)],
            "tokens": ME in [one.name for one in tokens.results],
            "tenant": [tenant.data.name, tenant.headers["Location"].rpartition("/")[2]],
            "user": [user.name, user.email, user.role],
            "ruled out": [ruled_out["type"], ruled_out["result"]["changed"]],
            "tree": [put.changed, put.changes[0].queue, put.changes[0].after],
            "late": [late.type, late.status],
            "made": [made.data.revision, made.headers["Location"].rpartition("/api")[2]],
            "lint": isinstance(lint.results, list),
            "problem": [problem.type, problem.status],
        }
    )
)
