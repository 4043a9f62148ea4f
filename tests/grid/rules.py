"""Who gets what at which address: the table that every route needs a line in.

A new route: add its line to ROUTES. Does its address have a parameter of a new name, add that to PARAMETERS; does it
take a new word after the ``?``, add that to GUESSES. Then rewrite the counts: ``QUERIES=write pytest tests/grid``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tests.grid.addresses import Route, routes
from tests.grid.sides import RED

PEOPLE = ("anonymous", "nobody", "other", "tenant", "editor", "auditor", "operator", "admin")
"""Not signed in; signed in without a tenant; another tenant's; whose things the address names; who may change them
below the tops of their subtrees; the three roles."""
READS = ("GET", "HEAD", "OPTIONS")
METHODS = (*READS, "POST", "PUT", "PATCH", "DELETE")

IN = "sign in"
"""What one is told who is not signed in: pages lead to the sign-in page, the API says 401."""
Answers = Mapping[str, int | str]


def _row(*answers: int | str) -> Answers:
    return dict(zip(PEOPLE, answers, strict=True))


#                  anonymous, nobody, other, tenant, editor, auditor, operator, admin
EVERYONE = _row(200, 200, 200, 200, 200, 200, 200, 200)
NOBODY = _row(405, 405, 405, 405, 405, 405, 405, 405)
ALL_LED_ON = _row(302, 302, 302, 302, 302, 302, 302, 302)
SIGN_IN = _row(200, 302, 302, 302, 302, 302, 302, 302)
SIGN_IN_ONLY = _row(405, 302, 302, 302, 302, 302, 302, 302)
SIGNED_IN = _row(IN, 200, 200, 200, 200, 200, 200, 200)
LED_ON = _row(IN, 302, 302, 302, 302, 302, 302, 302)
SHARERS = _row(IN, 404, 200, 200, 200, 200, 200, 200)
OWNERS = _row(IN, 404, 404, 200, 200, 200, 200, 200)
OWNERS_LED_ON = _row(IN, 404, 404, 302, 302, 200, 200, 200)
STAFF = _row(IN, 404, 404, 404, 404, 200, 200, 200)
STAFF_ONCE = _row(IN, 404, 404, 404, 404, 200, 200, 404)  # 404: the operator deleted it
EDITORS_WRITE = _row(IN, 404, 403, 403, 422, 403, 403, 422)  # 422: nothing was sent
ADMINS_SIGN_IN = _row(IN, 404, 404, 404, 404, 403, 403, 422)  # 422: no credentials were sent
ADMINS_SIGN_OUT = _row(IN, 404, 404, 404, 404, 403, 403, 204)
ADMINS_ACT = _row(IN, 404, 404, 404, 404, 403, 403, 302)
ADMINS_MISS = _row(IN, 404, 404, 404, 404, 403, 403, 410)  # 410: no row was named
ADMINS_RACE = _row(IN, 404, 404, 404, 404, 403, 403, 412)  # 412: no version was named, or another
ADMINS_READ = _row(IN, 404, 404, 404, 403, 403, 403, 200)
ADMINS_SEND_ONLY = _row(IN, 404, 404, 404, 403, 403, 403, 422)  # 422: nothing was sent
EDITORS_READ = _row(IN, 404, 404, 404, 200, 200, 200, 200)
PLANNERS_SEND = _row(IN, 403, 403, 403, 422, 403, 403, 422)  # 422: an empty document
EDITORS_SEND = _row(IN, 404, 404, 404, 422, 403, 403, 422)  # 422: nothing was sent
CONNECTORS_SEND = _row(IN, 403, 403, 403, 403, 403, 403, 422)  # 422: no credentials were sent
CONNECTORS = _row(IN, 404, 404, 404, 404, 403, 403, 200)
OPERATORS_SET = _row(IN, 404, 404, 404, 404, 403, 302, 302)
OPERATORS_CLASH = _row(IN, 404, 404, 404, 404, 403, 428, 428)  # 428: no tag was sent
OPERATORS_SEND = _row(IN, 404, 404, 404, 404, 403, 422, 422)  # 422: nothing was named
OPERATORS_DELETE = _row(IN, 404, 404, 404, 404, 403, 204, 404)  # 404: the operator did
ADMINS_SEND = _row(IN, 404, 404, 404, 404, 403, 403, 422)
ADMINS_DELETE = _row(IN, 404, 404, 404, 404, 403, 403, 204)
ADMINS_CLASH = _row(IN, 404, 404, 404, 404, 403, 403, 428)  # 428: no tag was sent
ADMINS_ALONE_SEND = _row(IN, 403, 403, 403, 403, 403, 403, 422)  # 422: nothing was sent
ADMINS_ALONE_CLASH = _row(IN, 403, 403, 403, 403, 403, 403, 428)  # 428: no tag was sent
STAFF_SEND = _row(IN, 404, 404, 404, 404, 422, 422, 422)  # 422: nothing was sent
AUTHORS_STOP = _row(IN, 404, 404, 404, 404, 403, 302, 302)  # the admin began it, operators may stop it
AUTHORS_END = _row(IN, 404, 404, 404, 404, 403, 200, 200)
STAFF_MISS = _row(IN, 404, 404, 404, 404, 409, 409, 409)  # 409: there is no journal to decide again on
NO_JOURNAL = _row(IN, 404, 404, 409, 409, 409, 409, 409)
NOT_SET_UP = _row(404, 404, 404, 404, 404, 404, 404, 404)
OPERATORS_FIND = _row(IN, 404, 404, 404, 404, 404, 302, 302)
TENANTS = _row(IN, 404, 200, 200, 200, 200, 200, 200)
TENANTS_SEND = _row(IN, 404, 422, 422, 422, 403, 403, 422)  # 422: nothing was sent
OWNERS_SEND = _row(IN, 404, 404, 422, 422, 403, 403, 422)
OWNERS_CLASH = _row(IN, 404, 404, 428, 428, 403, 403, 428)  # 428: no tag was sent
OWNERS_TEST = _row(IN, 404, 404, 200, 200, 403, 403, 200)
ALL_SEND = _row(IN, 422, 422, 422, 422, 422, 422, 422)
OWNER_READS = _row(IN, 404, 404, 200, 404, 404, 404, 404)  # the admin finds it gone: GET comes after DELETE
OWNER_DELETES = _row(IN, 404, 404, 204, 404, 404, 404, 404)  # the admin finds it gone: the tenant's person did it
ADMINS_OWN_READ = _row(IN, 404, 404, 404, 404, 404, 404, 200)
ADMINS_OWN = _row(IN, 404, 404, 404, 404, 404, 404, 204)
OWNERS_OR_ADMINS = _row(IN, 404, 404, 200, 404, 404, 404, 200)
OWNERS_OR_ADMINS_SEND = _row(IN, 404, 404, 422, 404, 404, 404, 422)  # 422: nothing was sent
WITH_PASSWORD = _row(IN, 404, 404, 404, 404, 404, 404, 200)  # the admin alone signs in with one
WITH_PASSWORD_SEND = _row(IN, 404, 404, 404, 404, 404, 404, 422)  # 422: nothing was sent
NOTHING = _row(IN, 404, 404, 404, 404, 404, 404, 404)

NOT_ANSWERED = {"": NOBODY, "web": NOBODY, "api": _row(IN, *[405] * 7), "admin": ALL_LED_ON}
"""By namespace: what a method gets that a route does not answer. The API asks who is there first."""


@dataclass(frozen=True)
class Rule:
    """What a route answers to whom, by method."""

    answers: Mapping[str, Answers]
    shows: tuple[str, ...] = ()
    """Which of their things (fields of sides.Side) those find there who get 200."""
    query: Mapping[str, str] = field(default_factory=dict)
    """What the address needs after the ``?``, with fields of sides.Side as places."""
    body: Mapping[str, str] = field(default_factory=dict)
    """What is sent with methods that write."""
    written_with: Mapping[str, str] = field(default_factory=dict)
    """What the address needs after the ``?`` for them."""

    def expected(self, route: Route, method: str, person: str) -> int | str:
        """What a person gets."""
        return self.answers.get(method, NOT_ANSWERED[route.namespace])[person]


def page(answers: Answers, *shows: str, **query: str) -> Rule:
    """A page that is read."""
    return Rule({"GET": answers, "HEAD": answers}, shows, query)


def api(
    answers: Answers,
    *shows: str,
    put: Answers | None = None,
    written_with: Mapping[str, str] | None = None,
    **query: str,
) -> Rule:
    """A route of the API that is read, or ``put`` too. What it is like is told to all who sign in: it names nothing."""
    methods = {"GET": answers, "HEAD": answers, "OPTIONS": SIGNED_IN} | ({"PUT": put} if put else {})
    return Rule(methods, shows, query, written_with=written_with or {})


def act(answers: Answers, **body: str) -> Rule:
    """A button."""
    return Rule({"POST": answers}, body=body)


ROUTES = {
    "metrics": page(NOT_SET_UP),  # nobody's role opens it: tests/metrics has who reads it
    "web:home": page(LED_ON),
    "web:login": Rule(dict.fromkeys(METHODS, SIGN_IN) | dict.fromkeys(("PATCH", "DELETE"), SIGN_IN_ONLY)),
    "web:logout": Rule({"POST": ALL_LED_ON, "OPTIONS": EVERYONE}),
    "web:language": Rule(dict.fromkeys(METHODS, ALL_LED_ON)),
    "web:oidc": Rule(dict.fromkeys(METHODS, NOT_SET_UP)),
    "web:oidc_callback": Rule(dict.fromkeys(METHODS, NOT_SET_UP)),
    "web:api_docs": page(SIGNED_IN),
    "web:glossary": page(SIGNED_IN),
    "web:find": page(SIGNED_IN, q="a"),
    "web:site": Rule({"GET": STAFF, "HEAD": STAFF, "POST": ADMINS_SEND}, body={"act": "tell"}),
    "web:account": page(SIGNED_IN),
    "web:audit_log": page(STAFF, "tenant", "namespace"),
    "web:audit_log_csv": page(STAFF, "tenant", "namespace"),
    "web:audit_log_json": page(STAFF, "tenant", "namespace"),
    "web:password": Rule({"GET": WITH_PASSWORD, "HEAD": WITH_PASSWORD, "POST": WITH_PASSWORD_SEND}),
    "web:token_add": Rule({"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": ALL_SEND}),
    "web:token_revoke": Rule({"GET": OWNERS_OR_ADMINS, "HEAD": OWNERS_OR_ADMINS, "POST": OWNERS_OR_ADMINS_SEND}),
    "web:tokens": page(CONNECTORS, "canary"),
    "web:service_token_add": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:roles": page(STAFF),
    "web:group_mappings": page(STAFF, "tenant"),
    "web:group_mapping_add": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:group_mapping": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}, ("tenant",)),
    "web:group_mapping_delete": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}, ("tenant",)),
    "web:tenants": page(STAFF, "tenant", "namespace", "team"),
    "web:tenant_add": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:tenant": Rule({"GET": STAFF, "HEAD": STAFF, "POST": ADMINS_SEND}, ("tenant", "namespace", "team")),
    "web:member_add": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}, ("tenant",)),
    "web:tenant_delete": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:users": page(STAFF, "tenant"),
    "web:user_add": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:user": Rule({"GET": STAFF, "HEAD": STAFF, "POST": ADMINS_SEND}, ("tenant",)),
    "web:user_password": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:user_delete": Rule({"GET": CONNECTORS, "HEAD": CONNECTORS, "POST": ADMINS_SEND}),
    "web:notifications": Rule({"GET": TENANTS, "HEAD": TENANTS, "POST": TENANTS_SEND}, ("tenant",)),
    "web:notification_channel": Rule(
        {"GET": OWNERS, "HEAD": OWNERS, "POST": OWNERS_SEND}, ("pod", "queue"), body={"act": "change"}
    ),
    "web:clusters": page(STAFF, "cluster"),
    "web:connect": Rule(dict.fromkeys(("GET", "HEAD", "POST"), CONNECTORS)),
    "web:connection": Rule({"GET": STAFF, "HEAD": STAFF, "POST": CONNECTORS}),
    "web:copies": Rule({"GET": STAFF, "HEAD": STAFF, "POST": ADMINS_ACT}, ("batch",), body={"act": "check"}),
    "web:settings": Rule(
        {"GET": STAFF, "HEAD": STAFF, "POST": OPERATORS_SET}, ("team",), body={"act": "pause", "reason": "maintenance"}
    ),
    "web:priority_classes": Rule({"GET": SHARERS, "HEAD": SHARERS, "POST": ADMINS_SEND}, ("priority_class",)),
    "web:priority_class": Rule(
        {"GET": STAFF, "HEAD": STAFF, "POST": ADMINS_SEND},
        ("priority_class", "namespace", "queue"),
        body={"act": "change", "seen": json.dumps({"name": RED.priority_class})},
    ),
    "web:queues": page(SHARERS, "queue"),
    "web:queue": page(OWNERS, "application", "namespace", "ask"),
    "web:queue_usage": page(OWNERS),
    "web:nodes": page(STAFF, "node"),
    "web:node": page(STAFF, "node", "pod", "namespace", "application"),
    "web:application": page(OWNERS, "pod", "node", namespace="{namespace}", application="{application}"),
    "web:editor": page(EDITORS_READ),
    "web:import": Rule({"GET": ADMINS_READ, "HEAD": ADMINS_READ, "POST": ADMINS_SEND_ONLY}),
    "web:draft": page(STAFF, "queue"),
    "web:draft_news": Rule(dict.fromkeys(("GET", "HEAD", "POST"), STAFF)),
    "web:draft_forecast": page(STAFF),
    "web:draft_edit": act(ADMINS_ACT),
    "web:draft_add": act(ADMINS_MISS, name="next"),
    "web:draft_rename": act(ADMINS_MISS, name="next"),
    "web:draft_move": act(ADMINS_MISS),
    "web:draft_copy": act(ADMINS_MISS),
    "web:draft_delete": act(ADMINS_MISS),
    "web:draft_undo": act(ADMINS_ACT),
    "web:draft_redo": act(ADMINS_ACT),
    "web:draft_rules": act(ADMINS_ACT),
    "web:draft_name": act(ADMINS_ACT, name="next"),
    "web:draft_cells": act(ADMINS_ACT, cells="[]"),
    "web:draft_merge": act(ADMINS_ACT),
    "web:draft_choose": act(ADMINS_ACT),
    "web:draft_publish": act(ADMINS_RACE),
    "web:draft_approve": act(ADMINS_RACE),
    "web:draft_discard": act(ADMINS_ACT),
    "web:snapshots": Rule({"GET": STAFF, "HEAD": STAFF, "POST": OPERATORS_SEND}, ("pod",), body={"act": "upload"}),
    "web:snapshot": page(STAFF, "pod"),
    "web:snapshot_forecast": page(STAFF),
    "web:snapshot_file": page(STAFF),
    "web:snapshot_delete": act(_row(IN, 404, 404, 404, 404, 403, 302, 404)),  # 404: the operator did
    "web:compare": Rule({"GET": STAFF, "HEAD": STAFF, "POST": STAFF_SEND}),
    "web:comparison": page(STAFF),
    "web:comparison_stop": act(AUTHORS_STOP),
    "web:comparison_plot": page(STAFF),
    "web:comparison_csv": page(STAFF, "queue"),
    "web:comparison_json": page(STAFF, "queue"),
    "web:revisions": page(STAFF),
    "web:revision": page(STAFF, "queue"),
    "web:revision_forecast": page(STAFF),
    "web:revision_export": page(STAFF),
    "web:exported": page(STAFF),
    "web:revision_json": page(STAFF, "queue", "namespace"),
    "web:revision_yaml": page(STAFF),
    "web:revision_back": act(ADMINS_RACE, onto="999999"),
    "web:revision_restore": act(ADMINS_SEND),
    "web:demo_surge": act(OPERATORS_FIND),
    "web:demo_speed": act(OPERATORS_FIND, speed="2"),
    "web:demo_reset": act(OPERATORS_FIND),
    "web:fences": page(SHARERS, "queue"),
    "web:fences_svg": page(SHARERS, "queue"),
    "web:history": page(STAFF, "ask", "node"),
    "web:saved_filters": act(_row(IN, 404, 404, 404, 404, 302, 302, 302), name="mine", address="node=n1"),
    "web:saved_filter": act(_row(IN, 404, 404, 404, 404, 404, 404, 302), act="rename", name="mine"),  # the admin's own
    "web:history_csv": page(STAFF, "ask", "pod", "application", "priority_class"),
    "web:history_json": page(STAFF, "ask", "pod", "application", "priority_class"),
    "web:repeats": page(STAFF, "namespace", "application"),
    "web:ledger": page(SIGNED_IN, "namespace", "batch"),
    "web:ledger_csv": page(SIGNED_IN, "namespace", "batch"),
    "web:ledger_json": page(SIGNED_IN, "namespace", "batch"),
    "web:decision_replay": page(NOTHING),  # there is no journal to decide again on
    "web:decision": page(OWNERS_LED_ON, "ask", "pod", "node"),
    "web:pods": page(SIGNED_IN, "pod", "ask", "namespace"),
    "web:pod": page(OWNERS, "pod", "node"),
    "web:pod_waiting": page(NOTHING),  # what the address names is a victim
    "web:workload": page(OWNERS, "application"),
    "api:openapi": api(SIGNED_IN),
    "api:cluster-list": Rule(
        {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "OPTIONS": SIGNED_IN, "POST": CONNECTORS_SEND}, ("cluster",)
    ),
    "api:cluster-detail": api(SHARERS),
    "api:check": api(CONNECTORS),
    "api:comparison-list": Rule({"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": STAFF_SEND}),
    "api:comparison-detail": api(STAFF, "queue"),
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
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "DELETE": ADMINS_DELETE},
        ("tenant",),
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
        {"GET": STAFF_ONCE, "HEAD": STAFF_ONCE, "OPTIONS": SIGNED_IN, "DELETE": OPERATORS_DELETE},
        written_with={"reason": "why"},
    ),
    "api:window-list": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "POST": ADMINS_SEND}, ("team",), body={"reason": "why"}
    ),
    "api:window-detail": Rule(
        {"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "DELETE": ADMINS_DELETE}, written_with={"reason": "why"}
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
        {"GET": ADMINS_OWN_READ, "HEAD": ADMINS_OWN_READ, "OPTIONS": SIGNED_IN, "DELETE": ADMINS_OWN}
    ),
    "api:queues": api(SHARERS, "queue"),
    "api:queue": api(OWNERS, "application", "namespace"),
    "api:quota": api(SHARERS),
    "api:usage": api(_row(IN, 404, 400, 200, 200, 200, 200, 200), queue="{queue}", resource="cpu"),
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
    "api:hierarchy-detail": api(SHARERS),
    "api:lint": Rule({"OPTIONS": SIGNED_IN, "POST": PLANNERS_SEND}),
    "api:tree_lint": api(EDITORS_READ),
    "api:tree": api(SHARERS, "queue", "namespace", put=EDITORS_WRITE, written_with={"dry_run": "true"}),
    "api:draft-list": Rule({"GET": EDITORS_READ, "HEAD": EDITORS_READ, "OPTIONS": SIGNED_IN, "POST": EDITORS_SEND}),
    "api:draft-detail": Rule({"GET": STAFF, "HEAD": STAFF, "OPTIONS": SIGNED_IN, "DELETE": ADMINS_CLASH}, ("queue",)),
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
    # Django's own site for repairs, where it is on: nobody gets past its door but a superuser, whatever their role.
    "admin:login": Rule(dict.fromkeys(METHODS, EVERYONE) | dict.fromkeys(("PATCH", "DELETE"), NOBODY)),
    "admin:*": Rule(dict.fromkeys(METHODS, ALL_LED_ON)),
}
PARAMETERS = {
    "clusters/name": "cluster",
    "hierarchies/name": "hierarchy",
    "revisions/number": "revision",
    "pods/name": "cluster",
    "queues/path": "queue",
    "decisions/pk": "decision",
    "drafts/pk": "draft",
    "passes/pk": "run",
    "workloads/name": "cluster",
    "snapshots/pk": "snapshot",
    "saved/pk": "saved",
    "saved-filters/pk": "saved",
    "compare/pk": "comparison",
    "comparisons/pk": "comparison",
    "pauses/pk": "pause",
    "tokens/pk": "token",
    "audit/pk": "event",
    "tenants/name": "tenant",
    "tenants/pk": "tenant_number",
    "users/pk": "user",
    "service-accounts/pk": "service",
    "group-mappings/pk": "mapping",
    "notifications/pk": "channel",
    "notification-channels/pk": "channel",
    "notifications/guid": "notification",
    "windows/pk": "window",
    "namespace": "namespace",
    "priority_class": "priority_class",
    "pod": "pod",
    "workload": "workload",
    "node": "node",
    "rest": "nothing",
    "form": "form",
}
"""A parameter of an address, after the word before it where there is one -> what it names, a field of sides.Side."""
GUESSES = {
    "queue": ("queue",),
    "namespace": ("namespace",),
    "application": ("application",),
    "pod": ("pod",),
    "priority_class": ("priority_class",),
    "node": ("node",),
    "q": ("queue", "namespace", "pod", "application"),
    "decision": ("decision",),
    "tenant": ("tenant",),
    "cluster": ("cluster",),
    "folded": ("queue",),
    "open": ("queue",),
    "below": ("queue",),
    "expanded": ("queue",),
    "preemptor_queue": ("queue",),
    "victim_queue": ("queue",),
}
"""A word after the ``?`` -> what somebody may try there, fields of sides.Side. Each is tried on every route."""


def rule_of(route: Route) -> Rule:
    """The route's line. Fails where there is none."""
    rule = _line(route)
    assert rule, f"/{route.form} has no line in ROUTES of tests/grid/rules.py: add {route.name!r} and who gets what."
    return rule


def names_of(route: Route) -> dict[str, str]:
    """Parameter -> what it names. Fails for a parameter that is not known."""
    found = {}
    for before, place in pairwise(("", *route.form.split("/"))):
        for parameter in re.findall(r"%\((\w+)\)s", place):
            thing = PARAMETERS.get(f"{before}/{parameter}") or PARAMETERS.get(parameter)
            assert thing or route.namespace == "admin", (
                f"/{route.form} has a parameter that PARAMETERS in tests/grid/rules.py does not know:"
                f" add '{before}/{parameter}' and what it names."
            )
            found[parameter] = thing or "nothing"
    return found


def lines() -> dict[Route, Rule]:
    """Every route with its line; those without one fail a test of their own."""
    return {route: rule for route in routes() if (rule := _line(route))}


def _line(route: Route) -> Rule | None:
    return ROUTES.get(route.name) or ROUTES.get(f"{route.namespace}:*")


READ = [route for route, rule in lines().items() if "GET" in rule.answers]
"""The routes that answer GET."""
WRITTEN = {route: methods for route, rule in lines().items() if (methods := set(rule.answers) - set(READS))}
"""The routes that write, with the methods by which they do."""
