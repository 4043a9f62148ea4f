"""The rules of policy ``fence`` for sets of units that make room for all members of a gang, each on its node."""

from collections.abc import Iterator

from engine.policies.common.groups.joint_search import JointRules
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.common.groups.unit_weighing import NodeShares
from engine.policies.common.groups.units import UnitAllowances
from engine.policies.fence.groups.units import CandidateUnits, Unit


class FenceJointRules(JointRules[Unit]):
    """The rules, which know of two units that one is as good as the other, and what each node's units free."""

    def __init__(
        self, candidates: CandidateUnits, shapes: MemberShapes, placed: Placed, allowances: UnitAllowances[Unit]
    ) -> None:
        """Prepare the rules. ``allowances`` count all members."""
        super().__init__(candidates, shapes, placed, allowances)
        self._candidates = candidates

    def alike(self, one: int, other: int) -> bool:
        """Return whether it makes no difference which of two units goes, but for its costs."""
        first, second = self.units[one], self.units[other]
        counted = [(len(unit.rows), unit.places, unit.held, unit.capped, unit.budgets) for unit in (first, second)]
        same = counted[0] == counted[1] and counted[0][0] == 1
        return same and self.members.alike(first.pods[0], second.pods[0])

    def shares(self) -> Iterator[NodeShares]:
        """Yield what the units free on each node of members, and what is missing for the last member there."""
        for place, member in self.members.last_on_nodes().items():
            here = {n: [pod for pod in unit.pods if pod[1] == place] for n, unit in enumerate(self.units)}
            freed = {number: member.freed_by(pods) for number, pods in here.items() if pods}
            all_freed = [sum(parts) for parts in zip(*freed.values(), strict=True)] or [0] * len(member.left)
            yield NodeShares(
                missing=tuple(amount - left for amount, left in zip(all_freed, member.left, strict=True)),
                freed=freed,
                costs={number: self._candidates.cost_of_pods([row for row, _ in here[number]]) for number in freed},
            )
