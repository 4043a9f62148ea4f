"""Whether a scheduler uses what is written: it is asked itself, and its own words are shown."""

from typing import Any

import pytest

from engine.cluster.errors import ClusterError
from engine.cluster.sync.copies import CopyEffect
from engine.cluster.sync.copies import SchedulerAnswer as Told
from engine.cluster.sync.effects import LONGEST_WORDS, kueue_effect, yunikorn_effect, yunikorn_refusal
from tests.cluster.doubles import Answer, Asked, scripted
from tests.cluster.yunikorn import SERVICE, StandIn

TEXT = "partitions: [{name: default, queues: [{name: root}]}]\n"
OLDER = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]\n"
REFUSAL = "root queue must not have resource limits set"


def forbidden(_asked: Asked, answer: Answer) -> None:
    answer.status(403, "Forbidden", "no")


class TestYunikorn:
    """By the checksum of the configuration that it has in force."""

    def test_goes_by_the_text_it_has_in_force(self) -> None:
        with scripted(StandIn(in_force=TEXT).script) as server:
            assert yunikorn_effect(server.connection(), SERVICE, TEXT) == Told(effect=CopyEffect.APPLIED)

    def test_does_not_go_by_another_and_says_what_it_has_against_it(self) -> None:
        with scripted(StandIn(in_force=OLDER, refusal=REFUSAL).script) as server:
            assert yunikorn_effect(server.connection(), SERVICE, TEXT) == Told(effect=CopyEffect.REJECTED, why=REFUSAL)
        assert server.asked[-1].method == "POST"

    def test_says_no_more_than_a_page_can_show(self) -> None:
        """Whoever stands in for it may say anything."""
        with scripted(StandIn(refusal="x\0" * 1_000_000).script) as server:
            assert yunikorn_refusal(server.connection(), SERVICE, TEXT) == "x" * LONGEST_WORDS

    def test_is_asked_before_anything_is_written(self) -> None:
        with scripted(StandIn(refusal=REFUSAL).script) as server:
            assert yunikorn_refusal(server.connection(), SERVICE, TEXT) == REFUSAL
        with scripted(StandIn().script) as server:
            assert yunikorn_refusal(server.connection(), SERVICE, TEXT) == ""

    def test_that_may_not_be_asked_is_not_known_to_go_by_anything(self) -> None:
        """And what grants it is named."""
        with scripted(forbidden) as server:
            told = yunikorn_effect(server.connection(), SERVICE, TEXT)
            assert told.effect is CopyEffect.UNKNOWN
            assert "deploy/yunikorn.yaml" in told.why
            with pytest.raises(ClusterError, match=r"deploy/yunikorn\.yaml"):
                yunikorn_refusal(server.connection(), SERVICE, TEXT)

    @pytest.mark.parametrize("answered", ["{}", "[]", "no JSON", '{"Checksum": 3}'])
    def test_that_answers_as_nobody_would_is_not_taken_for_it(self, answered: str) -> None:
        """Whatever stands there in its place."""
        body = f"HTTP/1.1 200 OK\r\nContent-Length: {len(answered)}\r\n\r\n{answered}".encode()
        with scripted(lambda _asked, answer: answer.raw(body)) as server:
            assert yunikorn_effect(server.connection(), SERVICE, TEXT).effect is CopyEffect.UNKNOWN

    def test_leaves_its_own_line_of_a_checksum_out_of_it(self) -> None:
        """As GetConfigurationString does."""
        with scripted(StandIn(in_force=TEXT).script) as server:
            signed = f"{TEXT}checksum: {'0' * 64}"
            assert yunikorn_effect(server.connection(), SERVICE, signed).effect is CopyEffect.APPLIED


def cluster_queue(name: str, status: str = "True", reason: str = "Ready", message: str = "", seen: int = 2) -> Any:
    """As Kueue has it in its second generation."""
    active = {"type": "Active", "status": status, "reason": reason, "message": message, "observedGeneration": seen}
    return {"metadata": {"name": name, "generation": 2}, "status": {"conditions": [active]}}


def kueue(*queues: Any) -> Told:
    """What it says of these ClusterQueues."""

    def script(asked: Asked, answer: Answer) -> None:
        if asked.path == "/apis/kueue.x-k8s.io/v1beta1/clusterqueues":
            return answer.json(200, {"items": list(queues)})
        return answer.status(404, "NotFound", "no such version")

    with scripted(script) as server:
        return kueue_effect(server.connection())


class TestKueue:
    """By the condition Active of each ClusterQueue."""

    def test_goes_by_what_it_looked_at_and_uses(self) -> None:
        """One that somebody stopped says what was wanted."""
        assert kueue(cluster_queue("a"), cluster_queue("b", "False", "Stopped")).effect is CopyEffect.APPLIED

    def test_does_not_use_a_queue_of_which_something_is_missing(self) -> None:
        missing = cluster_queue("b", "False", "FlavorNotFound", "references missing ResourceFlavor(s): gpu")
        said = "ClusterQueue b: references missing ResourceFlavor(s): gpu"
        assert kueue(cluster_queue("a"), missing) == Told(effect=CopyEffect.REJECTED, why=said)

    def test_has_yet_to_look_at_what_was_written(self) -> None:
        assert kueue(cluster_queue("a", seen=1)).effect is CopyEffect.PENDING
        assert kueue({"metadata": {"name": "a", "generation": 1}}).effect is CopyEffect.PENDING

    def test_that_may_not_be_read_is_not_known_to_go_by_anything(self) -> None:
        with scripted(forbidden) as server:
            assert kueue_effect(server.connection()).effect is CopyEffect.UNKNOWN
