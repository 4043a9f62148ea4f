"""The page of roles: what each may do, as the code has it and nowhere else."""

import re
from typing import get_args

import pytest
from django.test import Client

from scheduler_admin.accounts.models import Membership, User
from scheduler_admin.accounts.pages.people.roles import ACTION_WORDS
from scheduler_admin.accounts.scopes import Action, scope_by_role
from tests.pages.accounts.people import person, red, shown
from tests.pages.markup import squeezed

pytestmark = pytest.mark.django_db
ROLES = "/people/roles/"
ROW = re.compile(r'<th scope="row"><span class="name">(.+?)</span></th>(.+?)</tr>')


def table(client: Client) -> dict[str, list[str]]:
    """What is in the row of each action."""
    html = squeezed(client.get(ROLES).content.decode())
    return {name: re.findall(r'<span class="st \w+">(.+?)</span>', cells) for name, cells in ROW.findall(html)}


def test_every_action_has_words() -> None:
    """Also one that is new."""
    assert set(ACTION_WORDS) == set(get_args(Action))


def test_it_says_what_really_holds(ada: Client) -> None:
    """For each role and action: everything, what is the own tenant's, or nothing."""
    tenant = red()
    people = [person(role, role=role) for role in (User.Role.ADMIN, User.Role.OPERATOR, User.Role.AUDITOR)]
    people += [person("editor", edits=[tenant]), person("member", tenants=[tenant])]
    rows = table(ada)
    for action, words in ACTION_WORDS.items():
        holds = []
        for each in people:
            scope = scope_by_role(each, action)
            holds.append("everything" if scope.everything else "own tenant" if scope.tenants else "no")
        assert rows[str(words)] == holds, action


def test_it_leads_to_those_who_have_a_role(ada: Client) -> None:
    """With how many there are."""
    person("bob", role="auditor", edits=[red()])
    assert Membership.objects.count() == 1
    assert "Users with this role 1 0 1 1 0" in shown(ada, ROLES)
    assert 'href="/people/users/?role=auditor"' in ada.get(ROLES).content.decode()


def test_it_names_the_scopes_of_tokens(ada: Client) -> None:
    """Those that allow an action; reading is in all of them."""
    text = shown(ada, ROLES)
    assert "Change and publish queue trees everything no no own tenant no tree:write" in text
    assert "any scope" in text
