"""The acts of the audit log in words. An act that has none is shown by its name."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

KINDS = {
    "breaker": gettext_noop("Circuit breaker"),
    "channel": gettext_noop("Notification channel"),
    "channels": gettext_noop("Notification channels"),
    "class": gettext_noop("Priority class"),
    "cluster": gettext_noop("Cluster"),
    "comparison": gettext_noop("Comparison"),
    "configuration": gettext_noop("Configuration in the cluster"),
    "credentials": gettext_noop("Credentials"),
    "draft": gettext_noop("Draft"),
    "hierarchy": gettext_noop("Hierarchy"),
    "mapping": gettext_noop("Group mapping"),
    "pause": gettext_noop("Pause"),
    "program": gettext_noop("Credential program"),
    "site": gettext_noop("Site settings"),
    "snapshot": gettext_noop("Snapshot"),
    "tenant": gettext_noop("Tenant"),
    "token": gettext_noop("API token"),
    "tree": gettext_noop("Queue tree"),
    "user": gettext_noop("User"),
    "window": gettext_noop("Eviction window"),
    "workload": gettext_noop("Workload identity"),
}
"""Kind of object, the part of an act before the dot -> its name."""
VERBS = {
    "breaker.close": gettext_noop("Circuit breaker closed"),
    "breaker.open": gettext_noop("Circuit breaker opened"),
    "channel.add": gettext_noop("Notification channel added"),
    "channel.change": gettext_noop("Notification channel changed"),
    "channel.remove": gettext_noop("Notification channel deleted"),
    "channels.reseal": gettext_noop("Notification channels encrypted with a new key"),
    "class.change": gettext_noop("Priority class changed"),
    "class.create": gettext_noop("Priority class created"),
    "class.delete": gettext_noop("Priority class deleted"),
    "cluster.add": gettext_noop("Cluster added"),
    "cluster.credentials": gettext_noop("Cluster credentials replaced"),
    "cluster.credentials.remove": gettext_noop("Cluster credentials removed"),
    "cluster.limits": gettext_noop("Limits changed"),
    "cluster.mode": gettext_noop("Mode set"),
    "cluster.pause": gettext_noop("Preemption paused"),
    "cluster.readable": gettext_noop("Cluster readable again"),
    "cluster.remove": gettext_noop("Cluster removed"),
    "cluster.resume": gettext_noop("Preemption resumed"),
    "cluster.unreadable": gettext_noop("Cluster not readable"),
    "comparison.delete": gettext_noop("Comparison deleted"),
    "comparison.start": gettext_noop("Comparison started"),
    "comparison.stop": gettext_noop("Comparison stopped"),
    "configuration.restore": gettext_noop("Configuration in the cluster restored"),
    "configuration.set-namespace": gettext_noop("Namespace of the configuration set"),
    "configuration.write": gettext_noop("Write of the configuration requested"),
    "configuration.write.changed-meanwhile": gettext_noop("Configuration not written: changed in the meantime"),
    "configuration.write.failed": gettext_noop("Write of the configuration failed"),
    "configuration.write.in-progress": gettext_noop("Write of the configuration in progress"),
    "configuration.write.needs-confirmation": gettext_noop("Write of the configuration needs confirmation"),
    "configuration.write.rejected": gettext_noop("Write of the configuration rejected"),
    "configuration.write.written": gettext_noop("Configuration written to the cluster"),
    "credentials.reseal": gettext_noop("Credentials encrypted with a new key"),
    "draft.approve": gettext_noop("Draft approved"),
    "draft.discard": gettext_noop("Draft discarded"),
    "draft.import": gettext_noop("Draft imported"),
    "draft.merge": gettext_noop("Draft merged"),
    "draft.name": gettext_noop("Draft renamed"),
    "draft.restore": gettext_noop("Queues restored in a draft"),
    "draft.start": gettext_noop("Draft started"),
    "hierarchy.create": gettext_noop("Hierarchy created"),
    "hierarchy.delete": gettext_noop("Hierarchy deleted"),
    "mapping.add": gettext_noop("Group mapping added"),
    "mapping.change": gettext_noop("Group mapping changed"),
    "mapping.remove": gettext_noop("Group mapping deleted"),
    "pause.change": gettext_noop("Pause changed"),
    "program.run": gettext_noop("Credential program run"),
    "site.change": gettext_noop("Site settings changed"),
    "snapshot.delete": gettext_noop("Snapshot deleted"),
    "snapshot.save": gettext_noop("Snapshot saved"),
    "snapshot.upload": gettext_noop("Snapshot uploaded"),
    "tenant.change": gettext_noop("Tenant changed"),
    "tenant.create": gettext_noop("Tenant created"),
    "tenant.delete": gettext_noop("Tenant deleted"),
    "tenant.follow": gettext_noop("Queues of a tenant got other paths"),
    "token.create": gettext_noop("API token created"),
    "token.follow": gettext_noop("Queue of an API token got another path"),
    "token.revoke": gettext_noop("API token revoked"),
    "tree.publish": gettext_noop("Queue tree published"),
    "user.change": gettext_noop("User changed"),
    "user.create": gettext_noop("User created"),
    "user.delete": gettext_noop("User deleted"),
    "user.groups": gettext_noop("Role and tenants changed by groups"),
    "window.add": gettext_noop("Eviction window added"),
    "window.change": gettext_noop("Eviction window changed"),
    "window.remove": gettext_noop("Eviction window removed"),
    "workload.change": gettext_noop("Workload identity changed"),
    "workload.create": gettext_noop("Workload identity created"),
    "workload.delete": gettext_noop("Workload identity deleted"),
    "workload.follow": gettext_noop("Queue of a workload identity got another path"),
}
"""Act -> what was done."""
FIELDS = {
    "active": gettext_noop("Active"),
    "audience": gettext_noop("Audience"),
    "bind_margin_s": gettext_noop("Wait for the pending pod"),
    "claims": gettext_noop("Claims"),
    "email": gettext_noop("Email address"),
    "enforce_namespaces": gettext_noop("Enforce only in namespaces"),
    "enforce_queues": gettext_noop("Enforce only in queues"),
    "evictions_per_minute": gettext_noop("Evictions per minute"),
    "evictions_per_namespace": gettext_noop("Evictions per minute and namespace"),
    "evictions_per_node": gettext_noop("Evictions per minute and node"),
    "evictions_per_pass": gettext_noop("Evictions per pass"),
    "evictions_per_queue": gettext_noop("Evictions per minute and queue"),
    "expires_at": gettext_noop("Expires"),
    "group": gettext_noop("Group"),
    "group_scheduling": gettext_noop("Scheduling of PodGroups"),
    "issuer": gettext_noop("Issuer"),
    "members": gettext_noop("Members"),
    "min_run_s": gettext_noop("Minimum run time"),
    "mode": gettext_noop("Mode"),
    "name": gettext_noop("Name"),
    "namespaces": gettext_noop("Namespaces"),
    "node_links": gettext_noop("Links of a node"),
    "password": gettext_noop("Password"),
    "pod_links": gettext_noop("Links of a pod"),
    "preemptor": gettext_noop("Visible details"),
    "prefix": gettext_noop("Begins with"),
    "protected_namespaces": gettext_noop("Protected namespaces"),
    "publish": gettext_noop("Write Events in Advise mode"),
    "reserved_nodes": gettext_noop("Reserved nodes"),
    "role": gettext_noop("Role"),
    "room_kept_by": gettext_noop("Reservation of freed capacity"),
    "scopes": gettext_noop("Scopes"),
    "second_for_admins": gettext_noop("Approval for admins"),
    "second_for_editors": gettext_noop("Approval for editors of a subtree"),
    "service": gettext_noop("Service account"),
    "service_account": gettext_noop("Service account"),
    "shown_reason": gettext_noop("Shown reason"),
    "subject": gettext_noop("Subject"),
    "subtree": gettext_noop("Limited to"),
    "subtrees": gettext_noop("Queues"),
    "support_contact": gettext_noop("Contact"),
    "support_links": gettext_noop("Links for help"),
    "tenant": gettext_noop("Tenant"),
    "tenants": gettext_noop("Tenants"),
    "until": gettext_noop("Until"),
    "window": gettext_noop("Eviction window"),
    "workload_identity": gettext_noop("Workload identity"),
    "yunikorn_service": gettext_noop("YuniKorn service"),
}
"""Field of the details -> its name. Others are shown as they are stored."""
VALUES = {
    "mode": {
        "observe": gettext_noop("Observe"),
        "advise": gettext_noop("Advise"),
        "enforce": gettext_noop("Enforce"),
    },
}
"""Field of the details -> what its stored values are called."""


def kind_words(kind: str) -> str:
    """Return a kind of object in words."""
    return _(KINDS[kind]) if kind in KINDS else kind


def verb_words(verb: str) -> str:
    """Return what was done in words."""
    return _(VERBS[verb]) if verb in VERBS else verb


def field_words(field: str) -> str:
    """Return the name of a field of the details."""
    return _(FIELDS[field]) if field in FIELDS else field.replace("_", " ")


def value_words(field: str, value: str) -> str:
    """Return a value of a field in words, or as it is stored."""
    found = VALUES.get(field, {}).get(value)
    return _(found) if found else value
