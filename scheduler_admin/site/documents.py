"""Which document of docs/ says more about a page. The site can link to where its people read them."""

from django.conf import settings

_INDEX = "README.md"
_DRAFTS, _REVISIONS = "guides/give-a-team-more.md", "concepts.md#trees-and-revisions"
_PEOPLE, _TOKENS = "operations/people.md", "operations/people.md#tokens"
_PIPELINES = "operations/people.md#pipelines-without-a-stored-token"
_CLASSES, _HISTORY = "operations/modes.md#priority-classes", "concepts.md#preemption"
DOCUMENTS = {
    "clusters": "concepts.md#pages",
    "connect": "operations/connect.md",
    "connection": "operations/connect.md#check-a-cluster",
    "settings": "operations/safeguards.md",
    "copies": "operations/other-schedulers.md#the-clusters-configuration",
    "queues": "concepts.md#queues",
    "queue": "concepts.md#lending-and-preemption",
    "nodes": "concepts.md#pages",
    "node": "concepts.md#pages",
    "application": "concepts.md#pages",
    "fences": "concepts.md#the-fence-map",
    "history": _HISTORY,
    "decision": _HISTORY,
    "pods": "guides/my-pod-was-preempted.md",
    "pod": "guides/my-pod-was-preempted.md#read-the-answer",
    "workload": "concepts.md#waiting",
    "priority_classes": _CLASSES,
    "priority_class": _CLASSES,
    "editor": _DRAFTS,
    "draft": _DRAFTS,
    "import": "formats.md",
    "exported": "formats.md",
    "revisions": _REVISIONS,
    "revision": _REVISIONS,
    "revision_back": "concepts.md#publish-and-roll-back",
    "snapshots": "what-if.md",
    "snapshot": "what-if.md",
    "compare": "compare.md",
    "comparison": "compare.md#the-figures",
    "ledger": "concepts.md#ledger",
    "repeats": "concepts.md#repeated-preemptions",
    "notifications": "operations/notifications.md",
    "notification_channel": "operations/notifications.md",
    "account": _TOKENS,
    "tokens": _TOKENS,
    "token_add": _TOKENS,
    "service_token_add": _TOKENS,
    "workload_identities": _PIPELINES,
    "workload_identity": _PIPELINES,
    "workload_identity_add": _PIPELINES,
    "users": _PEOPLE,
    "user": _PEOPLE,
    "user_add": _PEOPLE,
    "tenants": _PEOPLE,
    "tenant": _PEOPLE,
    "tenant_add": _PEOPLE,
    "roles": "concepts.md#people",
    "group_mappings": "operations/people.md#single-sign-on",
    "group_mapping": "operations/people.md#single-sign-on",
    "group_mapping_add": "operations/people.md#single-sign-on",
    "site": "operations/people.md#help-for-tenants",
    "api_docs": "api.md",
    "glossary": "glossary.md",
}
"""Page -> document, with the heading where there is one. Every other page links to the index."""


def document_url(page: str) -> str:
    """Return the address of the document about a page; empty if the site does not say where its documents are."""
    return f"{settings.DOCS_URL}/{DOCUMENTS.get(page, _INDEX)}" if settings.DOCS_URL else ""
