"""What Kueue preempted, by its own word: the pods that began to go then, for which workload, and by which rule."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain import label, observed_causes, observed_flags, observed_sentence, observed_verdict, observed_victim
from engine.explain.observed.evictions import observed_reason
from engine.explain.observed.replay import replay_lines
from engine.model.objects import ClusterQueue, Pod, Preempted, Preemption, Workload
from engine.model.queue_tree import Take
from engine.model.snapshot import ClusterState
from engine.observation.evictions import EvictionSource, Observed, decode, encode, observe, sighting_keys
from engine.observation.replay import replay_observed
from tests.builders import NOW, node, pod, queue, tree

AT = NOW - 5_000
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("2", namespaces=("one",)), "b": queue("3")})


def workload(
    name: str, owner: str = "", *, asker: str = "web", why: str = "InCohortReclamation", **more: Any
) -> Workload:
    """One that was preempted for another, unless nobody is named."""
    told = Preempted(
        uid=f"uid-{name}",
        namespace="ns",
        name=name,
        at_ms=AT,
        ask_uid=f"uid-{asker}" if asker else "",
        ask_kind="Workload",
        why=why,
        place="/cohort/cq-b",
        ask_place="/cohort/cq-a",
    )
    made = {"uid": f"uid-{name}", "namespace": "ns", "name": name, "owners": (owner or f"Job/{name}",)}
    return Workload(**{"preempted": told, **made, **more})


WEB = Workload(uid="uid-web", namespace="one", name="job-web-1", owners=("Job/web",), priority=9)
"""The one that asks; its Job is suspended, so there are no pods of it."""


def of(job: str, name: str, on: str = "n1", **settings: Any) -> Pod:
    """A pod of a Job that is on its way out since Kueue's word."""
    told = {"terminating": True, "deleted_ms": AT + 1_000, "created_ms": AT - 60_000, "queue": "b"}
    return pod(name, node=on, **told | {"controller": f"Job/{job}"} | settings)


def state(*objects: Pod | Workload, gone: tuple[Pod, ...] = ()) -> ClusterState:
    found = ClusterState()
    found.nodes |= {name: node(name, 8) for name in ("n1", "n2")}
    for one in objects:
        if isinstance(one, Pod):
            found.pods[one.uid] = one
        else:
            found.workloads[one.uid] = one
    for one in gone:
        found.remember_deleted(one)
    return found


def seen(*objects: Pod | Workload, gone: tuple[Pod, ...] = (), now: int = NOW) -> list[Observed]:
    return list(observe(state(*objects, gone=gone), TREE, now_ms=now))


def text(message: Any) -> str:
    template = message.plural if message.count not in (None, 1) else message.id
    return template % ({"count": message.count} | {name: str(value) for name, value in message.params.items()})


def test_the_pods_of_a_preempted_workload_are_its_victims_wherever_they_ran() -> None:
    """With the workload that asked by its name, its Job, its priority and the queue of its namespace."""
    (found,) = seen(workload("w"), WEB, of("w", "w-0"), of("w", "w-1", "n2"), pod("other", node="n1", queue="b"))
    assert (found.source, found.at_ms, found.node, found.ask_kind) == (EvictionSource.KUEUE, AT, "", "Workload")
    assert [(one.pod.name, one.why, one.place) for one in found.victims] == [
        ("w-0", "InCohortReclamation", "/cohort/cq-b"),
        ("w-1", "InCohortReclamation", "/cohort/cq-b"),
    ]
    assert found.ask is not None
    assert (found.ask.name, found.ask.application, found.ask.priority) == ("job-web-1", "Job/web", 9)
    assert (found.ask.queue, found.ask_known, found.ask_place) == ("root.tenant-1.a", True, "/cohort/cq-a")
    assert decode(encode(found)) == found


def test_several_workloads_that_went_for_one_are_one_decision_and_another_ask_is_another() -> None:
    """Though each went by a rule of its own."""
    both = workload("w", why="InClusterQueue"), workload("x")
    found = seen(*both, workload("y", asker="api"), WEB, of("w", "w-0"), of("x", "x-0"), of("y", "y-0"))
    assert [[one.pod.name for one in each.victims] for each in found] == [["w-0", "x-0"], ["y-0"]]
    assert [one.why for one in found[0].victims] == ["InClusterQueue", "InCohortReclamation"]


@pytest.mark.parametrize(
    "settings",
    [
        {"workload": "w", "controller": "Job/inner"},
        {"controller": "JobSet/w", "owner": "JobSet/w"},
        {"controller": "", "owner": "Pod/p"},
    ],
    ids=["by its annotation", "by what made it", "by itself"],
)
def test_a_pod_is_known_as_the_workloads(settings: dict[str, str]) -> None:
    """A JobSet's pods belong to Jobs of it, and plain pods to nobody."""
    owner = settings.pop("owner", "JobSet/w")
    (found,) = seen(workload("w", owner), of("w", "p", **settings))
    assert [one.pod.name for one in found.victims] == ["p"]


@pytest.mark.parametrize(
    "settings",
    [
        {"terminating": False, "deleted_ms": None},
        {"deleted_ms": AT - 60_000},
        {"created_ms": AT + 60_000, "deleted_ms": AT + 70_000},
        {"finished": True, "deleted_ms": AT + 600_000},
        {"on": None},
        {"namespace": "elsewhere"},
        {"controller": "Job/w-other"},
        {"controller": "CronJob/w"},
    ],
    ids=[
        "not on its way out",
        "deleted before",
        "made after",
        "ended by itself",
        "bound nowhere",
        "elsewhere",
        "another's",
        "another kind's",
    ],
)
def test_other_pods_went_for_other_reasons(settings: dict[str, Any]) -> None:
    """That its workload was preempted once doesn't make a pod a victim."""
    assert seen(workload("w"), of("w", "p", **settings)) == []


def test_a_pod_that_has_left_already_is_told_all_the_same() -> None:
    """One that exits at once, as its kubelet last told of it; and one whose end was not seen, as after a lost watch."""
    quick = of("w", "quick", finished=True)
    unseen = of("w", "unseen", terminating=False, deleted_ms=AT + 60_000)
    before = of("w", "before", terminating=False, deleted_ms=AT - 60_000)
    ended = of("w", "ended", terminating=False, deleted_ms=None, finished=True)
    (found,) = seen(workload("w"), gone=(quick, unseen, before, ended))
    assert [one.pod.name for one in found.victims] == ["quick", "unseen"]


def test_what_was_said_of_a_workload_that_has_gone_holds() -> None:
    """That of a plain pod goes with it; one that was never preempted is not remembered."""
    found = state(of("w", "p", controller=""))
    found.remember_deleted(workload("w", "Pod/p"))
    found.remember_deleted(WEB)
    assert found.departed_workloads.keys() == {"uid-w"}
    assert [one.victims[0].pod.name for one in observe(found, TREE, now_ms=NOW)] == ["p"]
    found.workloads["uid-w"] = workload("w", "Pod/p", preempted=None)
    assert observe(found, TREE, now_ms=NOW) == ()


def test_a_workload_that_is_admitted_again_takes_its_word_back() -> None:
    """What was not seen meanwhile stays unknown: nobody tells any more when it was."""
    assert seen(workload("w", preempted=None), of("w", "w-0")) == []


def test_its_word_waits_for_what_it_says_of_the_others() -> None:
    """Its patches come one by one."""
    assert seen(workload("w"), of("w", "w-0", deleted_ms=AT), now=AT + 1_000) == []


def test_two_words_on_one_pod_are_one_preemption() -> None:
    """Whoever tells first; a condition tells less than Kueue."""
    both = state(workload("w"), of("w", "w-0", disruption="EvictionByEvictionAPI", disrupted_ms=AT + 1_000))
    assert sighting_keys(both, now_ms=NOW) == (("uid-w-0", "uid-web"),)
    both.preempted["e"] = Preempted(uid="uid-w-0", namespace="ns", name="w-0", at_ms=AT - 500, node="n1")
    (found,) = observe(both, TREE, now_ms=NOW)
    assert (found.source, len(found.victims)) == (EvictionSource.KUBE_SCHEDULER, 1)


def test_an_asker_that_nobody_saw_is_named_by_its_uid_and_one_that_is_not_told_not_at_all() -> None:
    """It may have been deleted; and Kueue may not know."""
    (unseen,) = seen(workload("w"), of("w", "w-0"))
    assert unseen.ask is not None
    assert (unseen.ask.uid, unseen.ask.name, unseen.ask_known) == ("uid-web", "", False)
    assert text(observed_sentence(unseen, by="Kueue")) == "Kueue preempted 1 pod for the workload uid-web."
    (untold,) = seen(workload("w", asker=""), of("w", "w-0"), of("w", "w-1"))
    assert untold.ask is None
    assert text(observed_sentence(untold, by="Kueue")) == "Kueue preempted 2 pods; the preempting workload is unknown."


RULES = {
    "InClusterQueue": "Both belong to the ClusterQueue cq-a, where workloads can preempt each other by priority",
    "InCohortReclamation": "The ClusterQueue cq-b had borrowed quota, and cq-a claimed it back within their cohort",
    "InCohortFairSharing": "cq-a preempted the ClusterQueue cq-b by fair sharing within their cohort",
    "InCohortReclaimWhileBorrowing": "The ClusterQueue cq-a, which also borrows, preempted cq-b within their cohort",
    "ConfigurablePreemption": "Kueue gives this reason: ConfigurablePreemption.",
}


@pytest.mark.parametrize(("why", "said"), RULES.items())
def test_each_rule_of_kueues_reads_a_sentence_of_its_own(why: str, said: str) -> None:
    """Both ClusterQueues are named to those who may see all of it, and to the tenant of the victim neither."""
    (found,) = seen(workload("w", why=why), WEB, of("w", "w-0"))
    assert observed_reason(found) == why
    (asker, told, *_) = observed_causes(found, by="Kueue")
    assert text(asker) == "That workload belongs to Job/web in the namespace one and has priority 9."
    assert text(told).startswith(said)
    (own, *_) = observed_flags(found, "uid-w-0", by="Kueue", sees=lambda _path: True)
    assert why in text(own)
    assert "cq-" not in text(own)


def test_where_the_clusterqueues_are_not_told_the_rule_is() -> None:
    """As in the versions that write no paths."""
    told = workload("w").preempted
    assert told is not None
    (found,) = seen(workload("w", preempted=msgspec.structs.replace(told, ask_place="", place="/cq-b")), of("w", "w-0"))
    (said, *_) = observed_causes(found, by="Kueue")
    assert text(said).startswith("Its ClusterQueue had borrowed quota, and another one claimed it back")
    assert [text(one) for one in observed_verdict(found, found.victims[0])][:2] == [
        "reclaimed in the cohort",
        "in ClusterQueue cq-b",
    ]


def test_its_reason_has_a_word_in_tables() -> None:
    """One that is not known here is shown as Kueue writes it."""
    assert text(label("InCohortFairSharing")) == "fair sharing in the cohort"
    assert "ConfigurablePreemption" in text(label("ConfigurablePreemption"))
    (found,) = seen(workload("w", why=""), of("w", "w-0"))
    assert (observed_reason(found), text(label("kueue"))) == ("kueue", "for quota")


def test_the_victims_tenant_reads_of_the_asker_its_queue_at_most() -> None:
    """And only where the site tells it."""
    (found,) = seen(workload("w"), WEB, of("w", "w-0"))
    assert text(observed_victim(found, "uid-w-0", by="Kueue")) == (
        "Kueue preempted w-0 to give its quota to a workload of a."
    )
    assert text(observed_victim(found, "uid-w-0", by="Kueue", discloses_queue=False)) == (
        "Kueue preempted w-0 to give its quota to another workload."
    )


@pytest.mark.parametrize(
    ("setting", "said", "not_said"),
    [
        (Take.LOWER_PRIORITY, "can preempt one with a lower priority (Kueue", "newer"),
        (Take.LOWER_OR_NEWER_EQUAL_PRIORITY, "or a newer one with the same priority", "by priority (Kueue"),
    ],
)
def test_the_rule_within_a_queue_is_told_as_that_queue_is_set(setting: Take, said: str, not_said: str) -> None:
    """Not as another one might be."""
    at = state(workload("w", why="InClusterQueue"), WEB, of("w", "w-0"))
    at.cluster_queues["cq-a"] = ClusterQueue(name="cq-a", preemption=Preemption(within=setting))
    (found,) = observe(at, TREE, now_ms=NOW)
    told = " ".join(text(one) for one in observed_causes(found, by="Kueue"))
    assert said in told
    assert not_said not in told


def test_what_kueue_did_is_judged_by_its_own_rules_alone() -> None:
    """It takes whole workloads by quotas of its own: our fences and guarantees are nothing that it went against."""
    (found,) = seen(workload("w"), WEB, of("w", "w-0"))
    assert found.victims[0].flags == ()
    assert "guarantee" not in " ".join(text(one) for one in observed_causes(found, by="Kueue"))


def test_where_its_quota_just_before_was_not_seen_that_is_said() -> None:
    """Nothing is made up."""
    before = state(workload("w"), WEB, of("w", "w-0"))
    (found,) = replay_observed(observe(before, TREE, now_ms=NOW), before, lambda _ms: TREE).decisions
    assert (found.hindsight, found.laws) == (None, ())
    assert "the state of the cluster just before was not observed" in text(replay_lines(found)[0])


@given(st.permutations(range(6)))
def test_in_whatever_order_its_objects_come_the_answer_is_the_same(order: list[int]) -> None:
    """Pure, as everything that is observed."""
    objects = [workload("w"), workload("x"), WEB, of("w", "w-0"), of("w", "w-1"), of("x", "x-0")]
    assert seen(*(objects[place] for place in order)) == seen(*objects)
