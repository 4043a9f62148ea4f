"""What YuniKorn's own validator said of documents: whatever it refuses is an error here, and nothing else is."""

import gzip
import json
from typing import Any

import pytest

from tests.peers.yunikorn_documents import RECORDED, our_errors

CASES: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "taken"])
def test_the_product_refuses_a_document_exactly_where_yunikorn_does(refused: bool) -> None:
    """Recorded from yunikorn-core; ``python -m tests.peers.yunikorn_documents`` asks it again."""
    cases = [case for case in CASES if bool(case["refusal"]) is refused]
    assert len(cases) > 100
    other = [case for case in cases if bool(our_errors(case["document"])) is not refused]
    assert other == []
