"""What can't be read is one kind of error, whatever comes."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.decode import (
    BUDGET_READER,
    NODE_READER,
    POD_READER,
    PRIORITY_CLASS_READER,
    DecodeError,
    decode_budget,
    decode_node,
    decode_pod,
    decode_priority_class,
)
from tests.engine.kubernetes_objects import FIELDS, OBJECTS, container, pod


@pytest.mark.parametrize(
    ("obj", "name", "part"),
    [
        (pod({"containers": [container({"cpu": "lots"})]}), "a/p", "lots is not a valid amount"),
        (pod({"priority": "high"}), "a/p", "priority"),
        (pod(creationTimestamp="yesterday"), "a/p", "creationTimestamp"),
        ({"metadata": {"namespace": "a"}}, "a", "no metadata.name"),
        ({"metadata": []}, "", "metadata"),
        ([], "", "object"),
        (None, "", "object"),
    ],
)
def test_a_malformed_object_is_one_kind_of_error(obj, name, part):
    """It says which object and what about it, whether it came as dictionaries or bytes."""
    for read in (lambda: decode_pod(obj), lambda: POD_READER.from_bytes(json.dumps(obj).encode())):
        with pytest.raises(DecodeError, match=part) as caught:
            read()
        assert (caught.value.kind, caught.value.name) == ("Pod", name)


@given(st.dictionaries(st.sampled_from(FIELDS[:3]), OBJECTS) | OBJECTS)
def test_whatever_comes_only_a_decode_error_is_raised(obj):
    """No object, however odd, breaks a reader in another way."""
    for read in (decode_pod, decode_node, decode_priority_class, decode_budget):
        with contextlib.suppress(DecodeError):
            read(obj)


@given(st.binary(max_size=60))
def test_whatever_bytes_come_only_a_decode_error_is_raised(data):
    """No bytes break a reader in another way."""
    for read in (
        POD_READER.from_bytes,
        NODE_READER.from_bytes,
        PRIORITY_CLASS_READER.from_bytes,
        BUDGET_READER.from_bytes,
    ):
        with pytest.raises(DecodeError):
            read(data)


@pytest.mark.parametrize("text", ["1e999", "9" * 5000, "1e-999", ".", "", "-", "NaN", "Infinity", "1_000", "٣"])
def test_extreme_quantities_are_read_or_refused(text):
    """Huge and strange quantities neither crash nor hang."""
    with contextlib.suppress(DecodeError):
        decode_pod(pod({"containers": [container({"memory": text})]}))


@pytest.mark.parametrize(
    ("resource", "spec"),
    [
        ("cpu", [container({"cpu": "9E"})]),
        ("memory", [container({"memory": "50E"})]),
        ("memory", [container({"memory": "7E"})] * 2),
    ],
)
def test_what_is_beyond_64_bits_counts_as_the_largest_number_there_is(resource, spec):
    """As in Kubernetes, which accepts it; no journal takes a larger one."""
    assert decode_pod(pod({"containers": spec})).requests[resource] == 2**63 - 1
