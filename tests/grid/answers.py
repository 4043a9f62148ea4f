"""What people get by method: the rows that the lines of pages and of the API are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.grid.addresses import Route

PEOPLE = ("anonymous", "nobody", "other", "tenant", "editor", "auditor", "operator", "admin")
"""Not signed in; signed in without a tenant; another tenant's; whose things the address names; who may change them
below the tops of their subtrees; the three roles."""
READS = ("GET", "HEAD", "OPTIONS")
METHODS = (*READS, "POST", "PUT", "PATCH", "DELETE")

IN = "sign in"
"""The answers to somebody who is not signed in: pages lead to the sign-in page, the API answers 401."""
Answers = Mapping[str, int | str]


def row(*answers: int | str) -> Answers:
    """Return what each of PEOPLE gets, in their order."""
    return dict(zip(PEOPLE, answers, strict=True))


#                  anonymous, nobody, other, tenant, editor, auditor, operator, admin
EVERYONE = row(200, 200, 200, 200, 200, 200, 200, 200)
NOBODY = row(405, 405, 405, 405, 405, 405, 405, 405)
ALL_LED_ON = row(302, 302, 302, 302, 302, 302, 302, 302)
SIGN_IN = row(200, 302, 302, 302, 302, 302, 302, 302)
SIGN_IN_ONLY = row(405, 302, 302, 302, 302, 302, 302, 302)
SIGNED_IN = row(IN, 200, 200, 200, 200, 200, 200, 200)
LED_ON = row(IN, 302, 302, 302, 302, 302, 302, 302)
SHARERS = row(IN, 404, 200, 200, 200, 200, 200, 200)
OWNERS = row(IN, 404, 404, 200, 200, 200, 200, 200)
OWNERS_LED_ON = row(IN, 404, 404, 302, 302, 200, 200, 200)
STAFF = row(IN, 404, 404, 404, 404, 200, 200, 200)
STAFF_ONCE = row(IN, 404, 404, 404, 404, 200, 200, 404)  # 404: the operator deleted it
EDITORS_WRITE = row(IN, 404, 403, 403, 422, 403, 403, 422)  # 422: nothing was sent
ADMINS_SIGN_IN = row(IN, 404, 404, 404, 404, 403, 403, 422)  # 422: no credentials were sent
ADMINS_SIGN_OUT = row(IN, 404, 404, 404, 404, 403, 403, 204)
ADMINS_ACT = row(IN, 404, 404, 404, 404, 403, 403, 302)
ADMINS_MISS = row(IN, 404, 404, 404, 404, 403, 403, 410)  # 410: no row was named
ADMINS_RACE = row(IN, 404, 404, 404, 404, 403, 403, 412)  # 412: no version was named, or another
ADMINS_READ = row(IN, 404, 404, 404, 403, 403, 403, 200)
ADMINS_SEND_ONLY = row(IN, 404, 404, 404, 403, 403, 403, 422)  # 422: nothing was sent
EDITORS_READ = row(IN, 404, 404, 404, 200, 200, 200, 200)
PLANNERS_SEND = row(IN, 403, 403, 403, 422, 403, 403, 422)  # 422: an empty document
EDITORS_SEND = row(IN, 404, 404, 404, 422, 403, 403, 422)  # 422: nothing was sent
CONNECTORS_SEND = row(IN, 403, 403, 403, 403, 403, 403, 422)  # 422: no credentials were sent
CONNECTORS = row(IN, 404, 404, 404, 404, 403, 403, 200)
OPERATORS_SET = row(IN, 404, 404, 404, 404, 403, 302, 302)
OPERATORS_CLASH = row(IN, 404, 404, 404, 404, 403, 428, 428)  # 428: no tag was sent
OPERATORS_SEND = row(IN, 404, 404, 404, 404, 403, 422, 422)  # 422: nothing was named
OPERATORS_CHANGE = row(IN, 404, 404, 404, 404, 403, 428, 404)  # 428: no tag was sent; 404: the operator deleted it
OPERATORS_DELETE = row(IN, 404, 404, 404, 404, 403, 204, 404)  # 404: the operator did
ADMINS_SEND = row(IN, 404, 404, 404, 404, 403, 403, 422)
ADMINS_DELETE = row(IN, 404, 404, 404, 404, 403, 403, 204)
ADMINS_CLASH = row(IN, 404, 404, 404, 404, 403, 403, 428)  # 428: no tag was sent
ADMINS_ALONE_SEND = row(IN, 403, 403, 403, 403, 403, 403, 422)  # 422: nothing was sent
ADMINS_ALONE_CLASH = row(IN, 403, 403, 403, 403, 403, 403, 428)  # 428: no tag was sent
STAFF_SEND = row(IN, 404, 404, 404, 404, 422, 422, 422)  # 422: nothing was sent
AUTHORS_STOP = row(IN, 404, 404, 404, 404, 403, 302, 302)  # the admin began it, operators may stop it
AUTHORS_END = row(IN, 404, 404, 404, 404, 403, 200, 200)
STAFF_MISS = row(IN, 404, 404, 404, 404, 409, 409, 409)  # 409: there is no journal to decide again on
NO_JOURNAL = row(IN, 404, 404, 409, 409, 409, 409, 409)
NOT_SET_UP = row(404, 404, 404, 404, 404, 404, 404, 404)
OPERATORS_FIND = row(IN, 404, 404, 404, 404, 404, 302, 302)
TENANTS = row(IN, 404, 200, 200, 200, 200, 200, 200)
TENANTS_SEND = row(IN, 404, 422, 422, 422, 403, 403, 422)  # 422: nothing was sent
OWNERS_SEND = row(IN, 404, 404, 422, 422, 403, 403, 422)
OWNERS_CLASH = row(IN, 404, 404, 428, 428, 403, 403, 428)  # 428: no tag was sent
OWNERS_TEST = row(IN, 404, 404, 200, 200, 403, 403, 200)
ALL_SEND = row(IN, 422, 422, 422, 422, 422, 422, 422)
OWNER_READS = row(IN, 404, 404, 200, 404, 404, 404, 404)  # the admin finds it gone: GET comes after DELETE
OWNER_DELETES = row(IN, 404, 404, 204, 404, 404, 404, 404)  # the admin finds it gone: the tenant's person did it
ADMINS_OWN_READ = row(IN, 404, 404, 404, 404, 404, 404, 200)
ADMINS_OWN_CLASH = row(IN, 404, 404, 404, 404, 404, 404, 428)  # 428: no tag was sent
ADMINS_OWN = row(IN, 404, 404, 404, 404, 404, 404, 204)
OWNERS_OR_ADMINS = row(IN, 404, 404, 200, 404, 404, 404, 200)
OWNERS_OR_ADMINS_SEND = row(IN, 404, 404, 422, 404, 404, 404, 422)  # 422: nothing was sent
WITH_PASSWORD = row(IN, 404, 404, 404, 404, 404, 404, 200)  # the admin alone signs in with one
WITH_PASSWORD_SEND = row(IN, 404, 404, 404, 404, 404, 404, 422)  # 422: nothing was sent
NOTHING = row(IN, 404, 404, 404, 404, 404, 404, 404)

NOT_ANSWERED = {"": NOBODY, "web": NOBODY, "api": row(IN, *[405] * 7), "admin": ALL_LED_ON}
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
    """A route of the API that is read, or ``put`` too. Everybody who is signed in may read it, as it names nothing."""
    methods = {"GET": answers, "HEAD": answers, "OPTIONS": SIGNED_IN} | ({"PUT": put} if put else {})
    return Rule(methods, shows, query, written_with=written_with or {})


def act(answers: Answers, **body: str) -> Rule:
    """A button."""
    return Rule({"POST": answers}, body=body)
