"""Bodies in protobuf: what can't be read whole is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.protobuf import MAGIC, decode
from simulator.status import ApiError


def field(number: int, payload: bytes) -> bytes:
    """Return an encoded field of bytes."""
    return bytes([number << 3 | 2, len(payload)]) + payload


def envelope(kind: str, raw: bytes) -> bytes:
    """Return a body of a kind."""
    return MAGIC + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, raw)


def test_names_and_maps_are_read() -> None:
    """Metadata, maps and quantities come out as they would in JSON."""
    meta = field(1, b"q") + field(11, field(1, b"a") + field(2, b"b"))
    hard = field(1, field(1, b"cpu") + field(2, field(1, b"1500m")))
    assert decode(envelope("ResourceQuota", field(1, meta) + field(2, hard))) == {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "labels": {"a": "b"}},
        "spec": {"hard": {"cpu": "1500m"}},
    }


@pytest.mark.parametrize(
    "body", [envelope("Deployment", b""), envelope("ConfigMap", field(1, field(1, b"c")) + field(9, b"more"))]
)
def test_what_is_not_known_is_refused(body: bytes) -> None:
    """A kind or a field that is not known answers 415, so that no part of a manifest is dropped unseen."""
    with pytest.raises(ApiError) as refused:
        decode(body)
    assert refused.value.code == 415


@given(st.binary(max_size=40))
def test_broken_bodies_are_refused(noise: bytes) -> None:
    """No sequence of bytes makes the decoder fail in any way but a refusal."""
    for body in (noise, MAGIC + noise, envelope("Job", noise), envelope("PodDisruptionBudget", noise)):
        try:
            code = 200 if isinstance(decode(body), dict) else 0
        except ApiError as refused:
            code = refused.code
        assert code in (200, 400, 415)
