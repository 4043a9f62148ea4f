"""The groups of operations in the OpenAPI document."""

TAGS = {
    "clusters": "Clusters with their nodes, passes, settings and credentials.",
    "comparisons": "Comparisons of two policies or trees over a period that was recorded.",
    "decisions": "Preemption decisions and their victims, and what happened to a pod.",
    "drafts": "Queue trees that are being edited, before they are published.",
    "events": "Events of a cluster as they happen, as a stream.",
    "ledger": "Lost work of a month, by victim and preemptor.",
    "notifications": "Channels that notify tenants, and the notifications that were sent.",
    "priority classes": "Priority classes of a cluster, and the ResourceQuotas that select by class.",
    "queues": "Queues with their usage and guarantees, pending pods, and which queues can preempt which.",
    "safeguards": "Pauses of evictions, and the windows in which evictions are allowed.",
    "site": "Users, tenants, group mappings, settings of the site and the audit log.",
    "snapshots": "Saved states of a cluster.",
    "tokens": "API tokens.",
    # Generators keep operations of a tag in one file: what the site receives and what it sends must not share one.
    "webhooks": "What the site sends to the webhooks of notification channels.",
    "trees": "Hierarchies with their published queue trees and revisions, and the configuration in the clusters.",
}
"""Tag -> what its operations are about."""
