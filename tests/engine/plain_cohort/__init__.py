"""Policies ``cohort`` and ``fair-share``, the long way round: every share and fit worked out anew.

Only the search for who goes, which is what is held against it; flavors are assigned by the engine's own code, and the
recorded decisions of Kueue judge both.
"""

from collections.abc import Sequence

from engine.model.quota import FlavorResource, Quantities, QuotaCluster, Workload
from engine.policies.cohort import Strategy, WorkloadVerdict
from engine.policies.cohort.flavor_assignment import SearchResult
from engine.policies.cohort.search.quota_index import QuotaIndex as Warm
from engine.policies.cohort.workload_decision import decide_with
from tests.engine.plain_cohort import classic, fair
from tests.engine.plain_cohort.ground import Ground, Question


def decide(cluster: QuotaCluster, ask: Workload, strategies: Sequence[Strategy] | None = None) -> WorkloadVerdict:
    """As the engine's, with a search of its own."""
    warm, ground = Warm(cluster), Ground(cluster)

    def find(asked: Quantities, contested: tuple[FlavorResource, ...]) -> SearchResult:
        question = Question(ground, ask, asked, contested)
        search = classic.search(question) if strategies is None else fair.search(question, strategies)
        after = warm.usage.copy()
        for target in search.targets:
            after.add(warm.tree.queue[target.workload.queue], target.workload.usage, -1)
        return SearchResult(search, after)

    return decide_with(warm, ask, find, fair=strategies is not None)
