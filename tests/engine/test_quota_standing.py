"""Where queues and cohorts stand: what they have, use, borrow and lend, and shares that explain themselves."""

from fractions import Fraction

import msgspec
from hypothesis import given

from engine.explain import share_sentence
from engine.formats.kueue.cluster import quota_cluster
from engine.formats.kueue.queue_names import place_queues, queue_paths
from engine.formats.yaml.object_list import ObjectList
from engine.model.notes import NoteCollector
from engine.model.quota import FlavorQuota, FlavorStatus, QuotaCluster, QuotaStatus, Workload, quota_statuses, share_of
from engine.policies.cohort.search.quota_index import QuotaIndex
from tests.engine.quota_builders import cluster, holds, queue
from tests.engine.quota_worlds import worlds
from tests.engine.test_observed_kueue import text


def standing(found: tuple[QuotaStatus, ...], name: str) -> QuotaStatus:
    (one,) = (one for one in found if one.name == name)
    return one


def line(found: tuple[QuotaStatus, ...], name: str) -> FlavorStatus:
    """Its only one."""
    (only,) = standing(found, name).lines
    return only


def said(found: tuple[QuotaStatus, ...], name: str) -> str:
    share = standing(found, name).share
    assert share is not None
    return text(share_sentence(share))


def test_what_one_borrows_another_lends() -> None:
    """Queue a uses eight cores of six, and b, which uses eight of ten, can't have its last two now."""
    holding = (holds("w", "a", cpu=8000), holds("v", "b", cpu=8000))
    found = quota_statuses(cluster(queue("a", cpu=6000), queue("b", cpu=10000), *holding))
    a, b, above = line(found, "a"), line(found, "b"), line(found, "all")
    assert (a.total, a.used, a.borrowed, a.lent, a.available) == (6000, 8000, 2000, 0, 0)
    assert (b.total, b.used, b.borrowed, b.lent, b.available) == (10000, 8000, 0, 2000, 0)
    assert (above.nominal, above.total, above.used, above.available) == (0, 16000, 16000, 0)


def test_limits_are_told_and_bound_what_is_available() -> None:
    """It keeps four of its six to itself, and borrows one at most."""
    found = quota_statuses(cluster(queue("a", cpu=FlavorQuota(6, borrowing=1, lending=2)), queue("b", cpu=10)))
    assert (line(found, "a").borrowing_limit, line(found, "a").lending_limit, line(found, "a").available) == (1, 2, 7)
    assert line(found, "all").total == 12


def test_a_share_says_what_it_comes_from() -> None:
    """Three of sixteen; infinite with a weight of nothing; nothing where nothing is borrowed."""
    for weight, first in (
        (1, "187.5: borrows 3 of 16 cpu lendable, weight 1"),
        (0, "+Inf: borrows 3 of 16 cpu lendable, weight 0"),
    ):
        a = queue("a", cpu=6000, weight=weight)
        found = quota_statuses(cluster(a, queue("b", cpu=10000, weight=0), holds("w", "a", cpu=9000)))
        assert [said(found, name) for name in "ab"] == [first, "0: borrows nothing"]
        assert standing(found, "all").share is None
    half = msgspec.structs.replace(queue("a", cpu=6000), weight=Fraction(3, 2))
    found = quota_statuses(cluster(half, queue("b", cpu=10000), holds("w", "a", cpu=9000)))
    assert said(found, "a") == "125: borrows 3 of 16 cpu lendable, weight 1.5"


def test_what_no_cohort_could_lend_counts_for_no_share() -> None:
    """It uses a resource that has no quota anywhere."""
    found = quota_statuses(cluster(queue("a", cpu=0), queue("b", cpu=0), holds("w", "a", cpu=2)))
    assert said(found, "a") == "0: borrows quota that its cohort can’t lend"


@given(worlds())
def test_every_figure_agrees_with_what_the_policies_decide_by(world: tuple[QuotaCluster, Workload]) -> None:
    """Nothing is both borrowed and lent, and what is free is free or lent, of whatever cohorts there are."""
    given_cluster, _ = world
    ground, found = QuotaIndex(given_cluster), quota_statuses(given_cluster)
    assert len(found) == len(ground.tree.names)
    for one in found:
        node = (ground.tree.cohort if one.cohort else ground.tree.queue)[one.name]
        assert one.share is None or one.share.text == share_of(ground.usage, node).text
        for each in one.lines:
            of = (each.flavor, each.resource)
            assert each.used == ground.usage.used(node, of)
            assert each.borrowed == 0 or each.lent == 0
            assert each.total - each.used <= each.available + each.lent or each.borrowed
            assert (each.borrowed > 0) == ground.usage.borrows(node, of)


@given(worlds())
def test_a_share_is_what_its_own_figures_say(world: tuple[QuotaCluster, Workload]) -> None:
    """So the sentence can be worked out by hand."""
    for one in quota_statuses(world[0]):
        share = one.share
        if share is not None and share.resource and share.text != "+Inf":
            worked_out = Fraction(share.borrowed * 1000, share.lendable) / Fraction(share.weight)
            assert float(worked_out) == float(share.text)


def test_it_can_be_kept_and_read_back() -> None:
    """To the same figures."""
    found = quota_statuses(cluster(queue("a", cpu=6), queue("b", cpu=10), holds("w", "a", cpu=9)))
    assert msgspec.json.decode(msgspec.json.encode(found), type=tuple[QuotaStatus, ...]) == found


def manifest(kind: str, name: str, spec: dict[str, str], **annotations: str) -> dict[str, object]:
    meta = {"name": name, "annotations": annotations}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec}


TREES = {
    "a cohort in a cohort": [
        manifest("Cohort", "in.dots", {"parentName": "top"}),
        manifest("ClusterQueue", "a", {"cohortName": "in.dots"}),
        manifest("ClusterQueue", "alone", {}),
    ],
    "a root alone": [manifest("Cohort", "root", {}), manifest("ClusterQueue", "a", {"cohortName": "root"})],
    "another name here": [
        manifest("ClusterQueue", "a", {"cohortName": "c"}, **{"scheduler-admin.io/queue": '{"name": "b"}'}),
        manifest("ClusterQueue", "odd", {"cohortName": "c"}, **{"scheduler-admin.io/queue": "no JSON"}),
    ],
}


def test_a_queue_has_the_path_that_an_import_would_give_it() -> None:
    """So the quota of a tree that came from Kueue is found beside its queues."""
    for name, objects in TREES.items():
        found = queue_paths(quota_statuses(quota_cluster(objects, now_ms=0)))
        imported = place_queues(
            ObjectList(msgspec.json.encode({"kind": "List", "items": objects}).decode()), NoteCollector()
        )
        assert {(one.kind == "Cohort", one.name): path for path, one in imported.items()} == found, name
