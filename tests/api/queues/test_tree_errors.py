"""A tree that can't be put in force: everything that is wrong with it, at its place, and nothing is changed."""

import json
import time
from typing import Any

import pytest
from rest_framework.test import APIClient

from engine.formats.registry import LARGEST
from scheduler_admin.clusters.models import Cluster
from tests.api.builders import RED
from tests.api.sending import PROD, YAML, errors, own_form, plan, put, queue_of, revisions

WRONG_YAML = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a
            resources:
              guaranteed: {vcore: 4}
              max:
                memory: 128Gb
          - name: "b b"
          - name: c
            properties: {preemption.delay: soon}
            resources: {max: {vcore: few}}
"""
CONTRADICTION = """
partitions:
  - name: default
    queues:
      - name: a
        resources:
          guaranteed:
            vcore: 4
            memory: 8Gi
          max: {memory: 4Gi,
                vcore: 2}
"""


def says(response: Any) -> list[str]:
    """The sentences of a problem's errors."""
    return [error["detail"] for error in response.json()["errors"]]


def test_every_error_of_our_own_form_is_told_at_its_place(ada: APIClient, cluster: Cluster) -> None:
    """What can't be read, what contradicts itself, and what the policy does not have: all at once, nothing changed."""
    form = own_form(ada)
    queue_of(form, "root.blue")["max"] = {"memory": "128Gb", "cpu": "1"}
    queue_of(form, RED)["delay"] = "soon"
    form["queues"].append({"path": "root.red.x", "weight": -2, "colour": 1, "guaranteed": {"nvidia.com/gpu": -1}})
    form["parameters"] = {"last_resort": "perhaps"}
    response = put(ada, form, match="*")
    assert (response.status_code, response["Content-Type"]) == (422, "application/problem+json")
    assert errors(response) == [
        {"pointer": "/queues/1/max/memory", "queue": "root.blue"},
        {"pointer": "/queues/3/delay", "queue": RED},
        {"pointer": "/queues/4/colour", "queue": "root.red.x"},
        {"pointer": "/queues/4/guaranteed/nvidia.com~1gpu", "queue": "root.red.x"},
        {"pointer": "/queues/4/weight", "queue": "root.red.x"},
        {"pointer": "/queues/1/guaranteed/cpu", "queue": "root.blue"},
        {"pointer": "/parameters"},
    ]
    assert says(response)[0] == "128Gb is not a valid amount. Did you mean 128Gi or 128G?"
    assert revisions() == [1]


@pytest.mark.parametrize(
    ("queues", "pointer"),
    [
        ([], "/queues"),
        ("root", "/queues"),
        ([{"path": "root"}, {"path": "root.a.b"}], "/queues/1/path"),
        ([{"path": "root"}, {"path": "root.a"}, {"path": "root.A"}], "/queues/2/path"),
        ([{"path": "root"}, {"name": "a"}], "/queues/1"),
        ([{"path": "root"}, "root.a"], "/queues/1"),
        ([{"path": "trunk"}], "/queues/0/path"),
    ],
)
def test_what_is_no_tree_is_told(ada: APIClient, cluster: Cluster, queues: Any, pointer: str) -> None:
    """Missing parents, names given twice, no root: each where it stands."""
    response = plan(ada, {"queues": queues})
    assert (response.status_code, errors(response)[0]["pointer"]) == (422, pointer)


@pytest.mark.parametrize("document", [[], "[]", 7, None, {}, {"queues": [{"path": "root"}], "extra": 1}])
def test_other_json_is_no_tree(ada: APIClient, cluster: Cluster, document: Any) -> None:
    """JSON of any other shape is an error, not a crash."""
    response = plan(ada, json.dumps(document).encode())
    assert (response.status_code, len(errors(response))) == (422, 1)


@pytest.mark.parametrize(
    ("terms", "pointer"),
    [
        ({"policy": "whim"}, "/policy"),
        ({"policy": 1}, "/policy"),
        ({"dialect": "slang"}, "/dialect"),
        ({"parameters": {"speed": 9}}, "/parameters"),
        ({"parameters": []}, "/parameters"),
    ],
)
def test_a_policy_that_is_not_there_is_told(
    ada: APIClient, cluster: Cluster, terms: dict[str, Any], pointer: str
) -> None:
    """A revision that no pass could decide by is never made."""
    response = plan(ada, own_form(ada) | terms)
    assert (response.status_code, errors(response)) == (422, [{"pointer": pointer}])


def test_every_error_of_a_queues_yaml_is_told_with_its_line(ada: APIClient, cluster: Cluster) -> None:
    """Line and queue; warnings are no errors."""
    response = put(ada, WRONG_YAML, match="*")
    assert response.status_code == 422
    assert errors(response) == [
        {"line": 12, "queue": "root"},
        {"line": 11, "queue": "root.a"},
        {"line": 15, "queue": "root.c"},
    ]
    assert revisions() == [1]


def test_a_contradiction_in_a_queues_yaml_is_told_with_its_line(ada: APIClient, cluster: Cluster) -> None:
    """What is found only once the whole tree is known has its line too, under an implied root as well."""
    response = plan(ada, CONTRADICTION)
    assert (response.status_code, errors(response)) == (
        422,
        [{"line": 8, "queue": "root.a"}, {"line": 9, "queue": "root.a"}],
    )
    assert [error["remedy"] for error in response.json()["errors"]] == [
        "Lower the guarantee, or raise the max of root.a to 4.",
        "Lower the guarantee, or raise the max of root.a to 8Gi.",
    ]


def test_where_no_guarantees_count_none_contradicts_anything(ada: APIClient, cluster: Cluster) -> None:
    """Under policy priority they are kept and not checked; they are as soon as the policy is fence."""
    form = own_form(ada) | {"policy": "priority", "dialect": "kube-scheduler", "parameters": {}}
    queue_of(form, "root.blue")["max"] = {"cpu": "1"}
    answer = plan(ada, form)
    assert answer.status_code == 200
    assert not [row for row in answer.json()["findings"] if "uarantee" in row["sentence"]]
    assert plan(ada, form | {"policy": "fence", "dialect": "design"}).status_code == 422


@pytest.mark.parametrize(
    ("document", "want"),
    [
        (b'{"queues": [}', {"line": 1}),
        (b'{\n"queues": \n]', {"line": 3}),
        (b"\xff\xfe", {}),
        (b"", {}),
        (b'{"queues": [], "queues": []}', {}),
        (b'{"queues": NaN}', {}),
        (b"[" * 100_000, {}),
        (b"1" * 5000, {}),
        ("partitions: [", {"line": 1}),
        ("partitions: \x00", {}),
        ("[" * 101, {}),
        ("just words", {}),
    ],
)
def test_what_is_not_even_its_format_is_unreadable(
    ada: APIClient, cluster: Cluster, document: bytes | str, want: dict[str, int]
) -> None:
    """400 with the line where it is known; twice the same name in one object is not silently one of them."""
    response = plan(ada, document)
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert errors(response) == [want]


@pytest.mark.parametrize(
    ("document", "status"),
    [
        (rb'{"queues": [{"path": "root"}], "parameters": {"\ud800": 1}}', 400),
        (rb'{"queues": [{"path": "root", "\u0000": 1, "max": {"\u0000": 1, "cpu": "\u0000"}}], "\u0000": 1}', 422),
        (rb'{"queues": [{"path": "root.\u0000", "namespaces": ["\u0000"]}], "parameters": {"\u0000": 1}}', 422),
        (r'partitions: [{queues: [{name: a, resources: {max: {"\ud800": "\ud800", "\0": 1}}}]}]', 422),
        (r'partitions: [{queues: [{name: "\ud800", properties: {"scheduler-admin.io/namespaces": "\0"}}]}]', 422),
        (r'partitions: [{queues: [{name: a, properties: {"scheduler-admin.io/namespaces": "\ud800"}}]}]', 422),
    ],
)
def test_characters_that_nothing_can_hold_are_errors(
    ada: APIClient, cluster: Cluster, document: bytes | str, status: int
) -> None:
    """Escapes can spell what neither UTF-8 nor the database takes."""
    assert plan(ada, document).status_code == status


def test_a_setting_that_is_not_ours_may_hold_anything(ada: APIClient, cluster: Cluster) -> None:
    """It is kept as it was typed, and the remark about it can be told."""
    text = YAML.replace("submitacl: everyone", r'properties: {"\ud800": "\0"}')
    found = put(ada, text, match="*").json()["findings"]
    assert [row["sentence"] for row in found if row.get("line") == 8 and row["severity"] == "warning"] == [
        "? is not a known field, so it is ignored."
    ]
    assert r'{"\ud800": "\0"}' in ada.get(PROD, HTTP_ACCEPT="application/yaml").content.decode()


def test_a_mistake_is_told_in_the_language_of_the_request(ada: APIClient, cluster: Cluster) -> None:
    """The sentences are for people: the place is not translated, the rest is."""
    ada.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-hans"
    response = plan(ada, WRONG_YAML)
    assert response["Content-Language"] == "zh-hans"
    assert errors(response)[0] == {"line": 12, "queue": "root"}


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/x-yaml", "nonsense"]
)
def test_other_media_types_are_told_what_is_taken(ada: APIClient, cluster: Cluster, media_type: str) -> None:
    """curl sends a form unless told otherwise: the answer says what to say."""
    response = ada.put(f"{PROD}?dry_run=true", YAML, content_type=media_type)
    assert (response.status_code, response["Content-Type"]) == (415, "application/problem+json")
    assert "application/yaml or application/json" in response.json()["detail"]


def test_a_document_has_a_largest_size(ada: APIClient, cluster: Cluster) -> None:
    """At the limit it is read, above it is refused unread."""
    padded = json.dumps(own_form(ada)).encode()
    padded += b" " * (LARGEST - len(padded))
    assert plan(ada, padded).status_code == 200
    response = plan(ada, padded + b" ")
    assert (response.status_code, response["Content-Type"]) == (413, "application/problem+json")
    assert "16 MiB" in response.json()["detail"]


def test_a_request_without_a_body_is_told_so(ada: APIClient, cluster: Cluster) -> None:
    """Nothing is no tree."""
    response = ada.put(f"{PROD}?dry_run=true")
    assert (response.status_code, says(response)) == (400, ["The request body is empty."])


def test_the_name_that_is_given_twice_is_found_among_very_many(ada: APIClient) -> None:
    """In one look at each: a document of names only would keep a web worker busy for a minute."""
    names = [str(number) for number in range(45_000)]
    body = "{" + ",".join(f'"{name}":0' for name in [*names, names[-1]]) + "}"
    began = time.process_time()
    response = plan(ada, body.encode())
    assert "44999 occurs twice" in response.json()["errors"][0]["detail"]
    assert time.process_time() - began < 5
