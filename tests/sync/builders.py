"""A cluster that keeps a queues.yaml of its own, and what is done to it by others and by us."""

from pathlib import Path

from django.utils import timezone

from engine.cluster.sync.config_map import KEY
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.services import ask_to_write, copy_of, look_now
from scheduler_admin.sync.state import Standing, standing
from scheduler_admin.sync.visits import claim, visit
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.wire import MERGE

CONFIG = "yunikorn-configs"
TEXT = """\
# Kept by the platform team.
partitions:
  - name: default
    nodesortpolicy: {type: binpacking}
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: prod
            resources:
              guaranteed: {vcore: '4'}  # as agreed
          - name: test
"""


def changed(text: str = TEXT, cpu: str = "6") -> str:
    """The same with another guarantee for root.prod."""
    return text.replace("{vcore: '4'}", f"{{vcore: '{cpu}'}}")


class Kept:
    """The ConfigMap of a cluster, simulated or real, and the cluster as it is known here."""

    def __init__(self, there: AnyCluster, folder: Path) -> None:
        self.there = there
        revision, _notes = import_tree(hierarchy="demo", text=TEXT, author=None, reason="as it was")
        path = folder / "kubeconfig"
        path.write_text(there.entrance.kubeconfig(there.namespace))
        self.cluster = Cluster.objects.create(name="demo", hierarchy=revision.hierarchy, kubeconfig=str(path))
        there.create("configmaps", {"metadata": {"name": CONFIG}, "data": {KEY: TEXT}})
        self.look()

    @property
    def copy(self) -> Copy:
        return copy_of(self.cluster)

    @property
    def standing(self) -> Standing:
        self.cluster.refresh_from_db()
        assert self.cluster.hierarchy
        return standing(self.copy, self.cluster.hierarchy.current)

    @property
    def text(self) -> str:
        """What the cluster has."""
        text: str = self.there.get("configmaps", CONFIG)["data"][KEY]
        return text

    def edit(self, text: str, manager: str = "kubectl-edit") -> None:
        """Somebody changes it there."""
        path = f"{path_of('configmaps', self.there.namespace, CONFIG)}?fieldManager={manager}"
        code, answer = self.there.raw("PATCH", path, {"data": {KEY: text}}, MERGE)
        assert code == 200, answer

    def publish(self, text: str) -> None:
        """Somebody changes it here."""
        import_tree(hierarchy="demo", text=text, author=None, reason="changed")

    def look(self) -> None:
        """The worker comes by."""
        look_now(cluster=self.cluster)
        now, copy = timezone.now(), self.copy
        assert claim(copy, now)
        visit(copy=copy, connection=self.there.connection(), namespaces=(self.there.namespace,), now=now)

    def ask(self, actor: User | None = None, *, overwrite: bool = False) -> Writing:
        """Somebody wants what is in force written over what is shown."""
        self.cluster.refresh_from_db()
        assert self.cluster.hierarchy
        assert self.cluster.hierarchy.current
        return ask_to_write(
            cluster=self.cluster,
            revision=self.cluster.hierarchy.current.pk,
            version=self.copy.version,
            overwrite=overwrite,
            actor=actor,
            reason="as agreed",
        )
