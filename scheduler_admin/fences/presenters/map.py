"""What the page Fences shows, put together from the selectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.http import QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.explain import Message, conditions
from engine.policies import reach_of, yunikorn
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.counts.selectors.pairs import preempted_pairs
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.fences import descriptions
from scheduler_admin.fences.address import Choice
from scheduler_admin.fences.drawing.key import Entry, key
from scheduler_admin.fences.drawing.shapes import Picture, picture
from scheduler_admin.fences.lead_sentences import lead_sentences
from scheduler_admin.fences.pairs import Pairs, pairs
from scheduler_admin.fences.reach import Reach, reach
from scheduler_admin.fences.scene import Scene
from scheduler_admin.fences.standings import Standing, Standings
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors import queues as selectors
from scheduler_admin.queues.selectors.tree_filters import MOST, suggested
from scheduler_admin.queues.selectors.visible_queues import VisibleQueues

_RANGES = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}


_MOST_OWN = 10
"""Queues of a tenant whose reach is described without choosing one."""


@dataclass(frozen=True)
class OwnReach:
    """Which queues a queue of the reader's can preempt, and which can preempt it."""

    path: str
    standing: str
    reach: Reach


@dataclass(frozen=True)
class FencesPage:
    """Everything that the page shows; ``scene`` is None where there is no queue to show."""

    cluster: str
    queues: VisibleQueues
    scene: Scene | None
    choice: Choice
    query: QueryDict
    revision: Revision | None = None
    tenant: bool = False
    """Whether the reader sees only some queues."""
    tells_askers: bool = True
    """Whether queues of others that can preempt the reader's are named."""

    @cached_property
    def own(self) -> list[OwnReach]:
        """To tenants, the reach of their leaves in words: of the chosen queue, or of the first ones."""
        if not self.scene or not self.tenant:
            return []
        scene = self.scene
        return [
            OwnReach(
                path,
                scene.standings[path].text if path in scene.standings else "",
                reach(scene.tree, path, scene.seen, scene.rules, tells_askers=self.tells_askers),
            )
            for path in self._own_paths[:_MOST_OWN]
        ]

    @property
    def own_left_out(self) -> int:
        """How many of their leaves are left out."""
        return len(self._own_paths) - len(self.own) if self.tenant else 0

    @property
    def _own_paths(self) -> tuple[str, ...]:
        if self.choice.queue:
            return (self.choice.queue,)
        return self.scene.leaves if self.scene else ()

    @property
    def draws(self) -> bool:
        """Whether there is a map: of a single queue it would show nothing."""
        return self.scene is not None and not (self.tenant and len(self.scene.leaves) == 1)

    @cached_property
    def picture(self) -> Picture | None:
        """The map."""
        return picture(self.scene) if self.scene else None

    @cached_property
    def key(self) -> list[Entry]:
        """What its lines and fills mean."""
        return key(self.scene, self.picture) if self.scene and self.picture else []

    @cached_property
    def lead(self) -> descriptions.Lead | None:
        """The sentence above it."""
        return descriptions.lead(self.scene) if self.scene else None

    @property
    def lead_sentences(self) -> list[SafeString]:
        """The same in the reader's language."""
        return lead_sentences(self.lead, self.scene.rules, chooses=self.draws) if self.lead and self.scene else []

    @property
    def title(self) -> str:
        """What is drawn, and from which queue it is seen."""
        if not self.choice.queue or not self.lead:
            return _("Fences of %(cluster)s") % {"cluster": self.cluster}
        return _("Fences of %(cluster)s for queue %(queue)s") % {"cluster": self.cluster, "queue": self.lead.name}

    @property
    def summary(self) -> str:
        """What the page is about, and how much of it happened."""
        if not self.scene or not self.choice.since_text:
            return _("which queues can preempt which")
        pods = ngettext(
            "which queues can preempt which; %(n)s pod preempted",
            "which queues can preempt which; %(n)s pods preempted",
            self.pods,
        )
        return f"{pods % {'n': self.pods}}, {self.choice.since_text}"

    @property
    def subtitle(self) -> str:
        """The revision, and how many pods were preempted in which time."""
        revision = _("revision %(number)s") % {"number": self.revision.number if self.revision else ""}
        if not self.choice.since_text:
            return revision
        pods = ngettext("%(n)s pod preempted", "%(n)s pods preempted", self.pods) % {"n": self.pods}
        return f"{revision}; {pods}, {self.choice.since_text}"

    @cached_property
    def rows(self) -> list[descriptions.Row]:
        """The same in words, for the chosen queue."""
        return descriptions.rows(self.scene) if self.scene else []

    @cached_property
    def pairs(self) -> Pairs | None:
        """All pairs."""
        return pairs(self.scene, self.query) if self.scene else None

    @cached_property
    def odd(self) -> list[descriptions.Odd]:
        """What went through shut borders."""
        return descriptions.odd(self.scene) if self.scene else []

    @property
    def conditions(self) -> Message | None:
        """On what it depends whether an open border is used."""
        return conditions(self.scene.rules) if self.scene else None

    @property
    def offered(self) -> list[str]:
        """The queues that can be chosen, but the root; where they are very many, those that the field suggests."""
        return suggested([queue.path for queue in self.queues if "." in queue.path])

    @property
    def typed(self) -> bool:
        """Whether a queue is typed, because there are too many to choose from."""
        return len(self.queues) > MOST

    @property
    def departs(self) -> bool:
        """Whether it is decided by YuniKorn's rules, which do not keep to these borders."""
        return self.revision is not None and self.revision.dialect == yunikorn.DIALECT

    @property
    def pods(self) -> int:
        """Pods that went, as History counts them; the map and the sentences below it share them out."""
        return self.scene.between.total if self.scene else 0


def fences_page(user: Who, cluster: Cluster, query: QueryDict, now: datetime) -> FencesPage:
    """The fences of a cluster as a person may see them, from the queue that the address chooses."""
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    queues = selectors.visible(user, revision, present(cluster))
    choice = Choice.read(query, queues.paths)
    if revision is None or not queues:
        return FencesPage(cluster.name, queues, None, choice, query)
    length, scope = _RANGES.get(choice.since), scope_of(user, "view")
    scene = Scene(
        tree=selectors.tree_with(revision, present(cluster)),
        rules=reach_of(revision.policy, revision.parameters),
        seen=queues.paths,
        choice=choice,
        happened=preempted_pairs(user, cluster, now.replace(second=0, microsecond=0) - length) if length else (),
        standings=_standings(cluster, queues),
    )
    tells = Redaction.of(scope).tells_queue("")
    return FencesPage(
        cluster.name, queues, scene, choice, query, revision, tenant=not scope.everything, tells_askers=tells
    )


def _standings(cluster: Cluster, queues: VisibleQueues) -> Mapping[str, Standing]:
    """Path -> how its usage compares with its guarantee; nothing before the first pass."""
    status = status_of(cluster)
    if status is None or not status.queues:
        return {}
    return Standings(queues, status.queues, status.capacity)
