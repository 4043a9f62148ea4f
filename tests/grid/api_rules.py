"""Who gets what of the REST API: one line for each of its routes."""

from tests.grid.answers import (
    ADMINS_ALONE_CLASH,
    ADMINS_ALONE_SEND,
    ADMINS_CLASH,
    ADMINS_DELETE,
    ADMINS_OWN,
    ADMINS_OWN_CLASH,
    ADMINS_OWN_READ,
    ADMINS_SEND,
    ADMINS_SEND_ONLY,
    ADMINS_SIGN_IN,
    ADMINS_SIGN_OUT,
    ALL_SEND,
    AUTHORS_END,
    CONNECTORS,
    CONNECTORS_SEND,
    EDITORS_READ,
    EDITORS_SEND,
    EDITORS_WRITE,
    IN,
    METHODS,
    NO_JOURNAL,
    NOTHING,
    OPERATORS_CHANGE,
    OPERATORS_CLASH,
    OPERATORS_DELETE,
    OPERATORS_SEND,
    OWNER_DELETES,
    OWNER_READS,
    OWNERS,
    OWNERS_CLASH,
    OWNERS_TEST,
    PLANNERS_SEND,
    SHARERS,
    SIGNED_IN,
    STAFF,
    STAFF_MISS,
    STAFF_ONCE,
    STAFF_SEND,
    TENANTS,
    TENANTS_SEND,
    Rule,
    api,
    row,
)

API = {
    "api:openapi": api(SIGNED_IN),
    "api:cluster-list": Rule(
        {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "OPTIONS": SIGNED_IN, "POST": CONNECTORS_SEND}, ("cluster",)
    ),
    "api:cluster-detail": Rule(
        {"GET": SHARERS, "HEAD": SHARERS, "OPTIONS": SIGNED_IN, "DELETE": CONNECTORS_SEND},
        written_with={"reason": "why"},
    ),
    "api:check": api(CONNECTORS),
    "api:comparison-list": Rule({"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": STAFF_SEND}),
    "api:comparison-detail": Rule(
        {"GET": STAFF_ONCE, "HEAD": STAFF_ONCE, "OPTIONS": SIGNED_IN, "DELETE": OPERATORS_DELETE}, ("queue",)
    ),
    "api:comparison-stop": Rule({"OPTIONS": SIGNED_IN, "POST": AUTHORS_END}),
    "api:configuration": api(STAFF, "batch"),
    "api:configuration_actions": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}),
    "api:credentials": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PUT": ADMINS_SIGN_IN, "DELETE": ADMINS_SIGN_OUT},
        written_with={"reason": "rotated"},
    ),
    "api:settings": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": OPERATORS_CLASH}, written_with={"reason": "why"}
    ),
    "api:audit-list": api(STAFF, "tenant"),
    "api:audit-detail": api(STAFF, "tenant", "namespace"),
    "api:tenant-list": Rule(
        {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "OPTIONS": SIGNED_IN, "POST": ADMINS_ALONE_SEND},
        written_with={"reason": "why"},
    ),
    "api:tenant-detail": Rule(
        {
            "GET": OWNERS,
            "HEAD": OWNERS,
            "OPTIONS": SIGNED_IN,
            "PATCH": ADMINS_ALONE_CLASH,
            "DELETE": ADMINS_ALONE_CLASH,
        },
        ("namespace", "team"),
        written_with={"reason": "why"},
    ),
    "api:user-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND},
        ("tenant",),
        written_with={"reason": "why"},
    ),
    "api:user-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH, "DELETE": ADMINS_CLASH},
        ("tenant",),
        written_with={"reason": "why"},
    ),
    "api:token-list": Rule({"GET": SIGNED_IN, "HEAD": SIGNED_IN, "OPTIONS": SIGNED_IN, "POST": ALL_SEND}),
    "api:token-detail": Rule(
        {"GET": OWNER_READS, "HEAD": OWNER_READS, "OPTIONS": SIGNED_IN, "DELETE": OWNER_DELETES},
        written_with={"reason": "leaked"},
    ),
    "api:site_settings": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH}, written_with={"reason": "why"}
    ),
    "api:group-mapping-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND},
        ("tenant",),
        written_with={"reason": "why"},
    ),
    "api:group-mapping-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH, "DELETE": ADMINS_DELETE},
        ("tenant",),
        written_with={"reason": "why"},
    ),
    "api:workload-identity-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND},
        ("canary",),
        written_with={"reason": "why"},
    ),
    "api:workload-identity-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH, "DELETE": ADMINS_CLASH},
        ("canary",),
        written_with={"reason": "why"},
    ),
    "api:channel-list": Rule(
        {"GET": TENANTS, "HEAD": TENANTS, "OPTIONS": SIGNED_IN, "POST": TENANTS_SEND}, ("tenant",)
    ),
    "api:notification-list": Rule(
        {"GET": OWNERS, "HEAD": OWNERS, "OPTIONS": SIGNED_IN, "POST": OWNERS_TEST}, ("pod", "queue")
    ),
    "api:notification-detail": api(OWNERS, "pod", "queue"),
    "api:channel-detail": Rule(
        {"GET": OWNERS, "HEAD": OWNERS, "OPTIONS": SIGNED_IN, "PATCH": OWNERS_CLASH, "DELETE": OWNERS_CLASH},
        ("tenant",),
    ),
    "api:pause-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": OPERATORS_SEND}, ("team",), body={"reason": "why"}
    ),
    "api:pause-detail": Rule(
        {
            "GET": STAFF_ONCE,
            "HEAD": STAFF_ONCE,
            "OPTIONS": SIGNED_IN,
            "PATCH": OPERATORS_CHANGE,
            "DELETE": OPERATORS_DELETE,
        },
        written_with={"reason": "why"},
    ),
    "api:window-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}, ("team",), body={"reason": "why"}
    ),
    "api:window-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH, "DELETE": ADMINS_DELETE},
        written_with={"reason": "why"},
    ),
    "api:snapshot-list": Rule({"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": OPERATORS_SEND}, ("pod",)),
    "api:snapshot-upload": Rule(
        {"OPTIONS": SIGNED_IN, "POST": OPERATORS_SEND}, written_with={"name": "from elsewhere"}
    ),
    "api:snapshot-detail": Rule(
        {"GET": STAFF_ONCE, "HEAD": STAFF_ONCE, "OPTIONS": SIGNED_IN, "DELETE": OPERATORS_DELETE}, ("pod",)
    ),
    "api:snapshot-file": api(STAFF),
    "api:snapshot-forecast": api(STAFF),
    "api:priority-class-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND},
        ("priority_class", "namespace", "queue"),
        written_with={"reason": "why"},
    ),
    "api:priority-class-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_CLASH, "DELETE": ADMINS_CLASH},
        ("priority_class", "namespace", "queue"),
        written_with={"reason": "why"},
    ),
    "api:fences": api(SHARERS, "batch"),
    "api:fences_file": api(SHARERS, "queue"),
    "api:saved-filter-list": Rule({"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": STAFF_SEND}),
    "api:saved-filter-detail": Rule(
        {
            "GET": ADMINS_OWN_READ,
            "HEAD": ADMINS_OWN_READ,
            "OPTIONS": SIGNED_IN,
            "PATCH": ADMINS_OWN_CLASH,
            "DELETE": ADMINS_OWN,
        }
    ),
    "api:queues": api(SHARERS, "queue"),
    "api:queue": api(OWNERS, "application", "namespace"),
    "api:quota": api(SHARERS),
    "api:usage": api(row(IN, 404, 400, 200, 200, 200, 200, 200), queue="{queue}", resource="cpu"),
    "api:pending_pods": api(SHARERS, "ask", "queue"),
    "api:pending-workload-list": api(SHARERS, "application", "namespace"),
    "api:pending-workload-detail": api(OWNERS, "application", "namespace"),
    "api:workload_pending_reasons": api(OWNERS, "queue"),
    "api:node-list": api(STAFF, "node"),
    "api:node-detail": api(STAFF, "node", "pod", "namespace", "queue"),
    "api:application_pods": api(OWNERS, "pod", "node", namespace="{namespace}", application="{application}"),
    "api:pass-list": api(STAFF),
    "api:pass-detail": api(STAFF),
    "api:victim-list": api(SIGNED_IN, "pod", "namespace", "application"),
    "api:repeats": api(SHARERS, "namespace", "application"),
    "api:ledger": api(SIGNED_IN, "namespace", "batch"),
    "api:decision-list": api(SHARERS, "ask", "pod", "application", "priority_class", "node"),
    "api:decision-detail": api(OWNERS, "ask", "pod", "application", "priority_class", "node"),
    "api:pods": api(SIGNED_IN, "pod", "ask", "namespace"),
    "api:pod": api(OWNERS, "pod", "node"),
    "api:counterfactuals": api(STAFF_MISS),
    "api:replay": api(STAFF_MISS),
    "api:pending_reasons": api(NO_JOURNAL),
    "api:events": Rule(
        {"GET": SHARERS, "HEAD": SHARERS, "OPTIONS": SIGNED_IN},
        ("ask", "pod", "application"),
        {"cluster": "{cluster}", "after": "0", "timeout_seconds": "0"},
    ),
    "api:hierarchy-list": api(SIGNED_IN, "hierarchy"),
    "api:hierarchy-detail": Rule(
        {"GET": SHARERS, "HEAD": SHARERS, "OPTIONS": SIGNED_IN, "DELETE": ADMINS_ALONE_CLASH},
        written_with={"reason": "why"},
    ),
    "api:lint": Rule({"OPTIONS": SIGNED_IN, "POST": PLANNERS_SEND}),
    "api:tree_lint": api(EDITORS_READ),
    "api:tree": Rule(
        {"GET": SHARERS, "HEAD": SHARERS, "OPTIONS": SIGNED_IN, "PUT": EDITORS_WRITE, "POST": EDITORS_WRITE},
        ("queue", "namespace"),
        written_with={"dry_run": "true"},
    ),
    "api:draft-list": Rule({"GET": EDITORS_READ, "HEAD": EDITORS_READ, "OPTIONS": SIGNED_IN, "POST": EDITORS_SEND}),
    "api:draft-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "PATCH": ADMINS_SEND, "DELETE": ADMINS_CLASH}, ("queue",)
    ),
    "api:draft_import": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND_ONLY}, written_with={"name": "next"}),
    "api:draft_actions": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}),
    "api:draft_forecast": api(STAFF),
    "api:draft_publish": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}),
    "api:revision-list": api(SHARERS),
    "api:revision-detail": api(STAFF, "queue", "namespace"),
    "api:revision_diff": api(STAFF, "queue"),
    "api:roll_back": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}),
    "api:restore": Rule({"OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}),
    "api:nothing": Rule(dict.fromkeys(METHODS, NOTHING)),
}
