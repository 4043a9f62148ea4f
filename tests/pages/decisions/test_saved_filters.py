"""Filters of the history that a person keeps by a name."""

from urllib.parse import urlencode

import pytest

from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.services.saved_filters import MOST_KEPT
from tests.pages import rows

pytestmark = pytest.mark.django_db
URL = "/clusters/demo/history/"
ADDRESS = urlencode({"queue": "root.tenant-1", "range": "7d"})


@pytest.fixture
def cluster():
    """One with a history."""
    made = rows.cluster("demo")
    rows.status(made)
    return made


@pytest.fixture
def ada(client, cluster):
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.AUDITOR))
    return client


def save(client, name="Tenant 1", address=ADDRESS):
    """Send the form, and see the page that it leads to."""
    return client.post(f"{URL}saved/", {"name": name, "address": address}, follow=True)


def told(response) -> list[str]:
    """What the page says of what was done."""
    return [str(message) for message in response.context["messages"]]


def test_filters_are_kept_by_a_name_and_are_a_link_from_then_on(ada):
    """The page is the one that they were kept on, and marks the link."""
    response = save(ada)
    assert told(response) == ["Saved."]
    kept = SavedFilter.objects.get()
    assert response.context["filters"].queue == "root.tenant-1"
    assert f'<a class="btn" id="saved-{kept.pk}" href="?{kept.address.replace("&", "&amp;")}" aria-current="true">' in (
        response.content.decode()
    )
    plain = ada.get(URL).content.decode()
    assert f'id="saved-{kept.pk}"' in plain
    assert 'aria-current="true">Tenant 1' not in plain


def test_they_are_renamed_and_deleted(ada):
    """On the page that they lead to."""
    save(ada)
    address = f"{URL}saved/{SavedFilter.objects.get().pk}/"
    assert b"Rename or delete" in ada.get(f"{URL}?{ADDRESS}").content
    assert told(ada.post(address, {"act": "rename", "name": " Mine "}, follow=True)) == ["Saved."]
    assert SavedFilter.objects.get().name == "Mine"
    assert told(ada.post(address, {"act": "delete"}, follow=True)) == ["Deleted."]
    assert not SavedFilter.objects.exists()


def test_everybody_has_their_own(ada, client, cluster):
    """Whatever the role: an admin finds an auditor's neither on the page nor by its number."""
    save(ada)
    kept = SavedFilter.objects.get()
    client.force_login(rows.user("root", User.Role.ADMIN))
    assert b"Tenant 1" not in client.get(URL).content
    assert client.post(f"{URL}saved/{kept.pk}/", {"act": "delete"}).status_code == 404
    assert told(save(client)) == ["Saved."]  # a name that another has is free


def test_those_of_another_cluster_are_not_shown(ada):
    """A queue of one tree is none of another."""
    save(ada)
    rows.status(rows.cluster("other"))
    assert b"Tenant 1" not in ada.get("/clusters/other/history/").content
    pk = SavedFilter.objects.get().pk
    assert ada.post(f"/clusters/other/history/saved/{pk}/", {"act": "delete"}).status_code == 404


@pytest.mark.parametrize(
    ("name", "address", "why"),
    [
        ("", ADDRESS, "Enter a name."),
        ("Tenant 1", ADDRESS, "You already have a saved filter with this name."),
        ("Nothing", "", "Set at least one filter before you save."),
        ("x" * 61, ADDRESS, "Ensure this value has at most 60 characters (it has 61)."),
        ("Long", f"node={'x' * 2000}", "Ensure this value has at most 2000 characters (it has 2005)."),
    ],
)
def test_what_can_not_be_kept_says_why(ada, name, address, why):
    """And leaves what there was."""
    save(ada)
    assert told(save(ada, name, address)) == [why]
    assert SavedFilter.objects.get().name == "Tenant 1"


def test_there_is_an_end_to_how_many(ada):
    """They stand in a row."""
    for number in range(MOST_KEPT):
        save(ada, f"Number {number}")
    assert told(save(ada)) == [f"You can save at most {MOST_KEPT} filters. Delete one first."]


@pytest.mark.parametrize("sent", [{"name": "a\0b", "address": ADDRESS}, {"name": "a", "address": "node=%00"}])
def test_what_no_database_takes_is_refused(ada, sent):
    """Before it gets there."""
    assert ada.post(f"{URL}saved/", sent).status_code == 400
    assert not SavedFilter.objects.exists()


def test_only_what_the_page_knows_is_kept(ada):
    """Whatever is sent: the address is read as one, and written anew."""
    save(ada, address="queue=root.a&evil=1&outcome=nonsense&stack=reason")
    assert SavedFilter.objects.get().address == "queue=root.a&stack=reason"


def test_a_refresh_of_the_page_holds_none(ada):
    """They stand outside of what changes."""
    response = ada.get(URL, headers={"HX-Request": "true"})
    assert b"saved" not in response.content
