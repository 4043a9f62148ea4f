"""A whole simulated cluster: the store, its controllers, the script, and the server."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from simulator.api.server import AuditRecord, create_app
from simulator.clock import LoopClock, Pace, SimulationClock
from simulator.control import Control
from simulator.controllers.disruption import DisruptionBudgets
from simulator.controllers.jobs import Jobs
from simulator.controllers.kubelet import Kubelets
from simulator.controllers.recorder import Recorder
from simulator.controllers.replicasets import ReplicaSets
from simulator.controllers.volumes import Volumes
from simulator.objects import Object
from simulator.scheduling.scheduler import SimulatedScheduler
from simulator.script.manifests import DEFINITIONS, LEASES, create_all, load
from simulator.script.script import Script, load_script
from simulator.script.surge import NotNowError, Surges
from simulator.script.workloads import Workloads
from simulator.storage.store import Store

if TYPE_CHECKING:
    from simulator.controllers.component import Component

SHUTDOWN_SECONDS = 1.0
"""How long open watches may take to end when the server stops."""
EVENT_WINDOW = 4_000
"""How many changes a watch may go back: about seven minutes of the demo, in a few MiB."""
KEPT_ON_RESET = (LEASES, DEFINITIONS)
"""The kinds that belong to users of the cluster and survive a reset."""


class SimulatedCluster:
    """A cluster that is built from manifests and an optional script; it runs from `start` to `stop`.

    With a ManualClock everything except `serve` runs without an event loop, with `begin` and `end`.
    """

    def __init__(
        self,
        manifests: Iterable[str | Path | Object] = (),
        script: str | Path | None = None,
        *,
        seed: int = 0,
        speed: float = 1.0,
        default_preemption: bool = True,
        token: str | None = None,
        clock: SimulationClock | None = None,
        audit: Callable[[AuditRecord], object] | None = None,
    ) -> None:
        """Read the files. Raises ManifestError."""
        self.clock: SimulationClock = clock or LoopClock()
        self.pace = Pace(self.clock, speed)
        self.seed = seed
        self.store = Store(self.clock.now, seed, EVENT_WINDOW)
        self.documents = load(manifests)
        self.script: Script | None = load_script(Path(script), self.documents) if script is not None else None
        self.workloads: Workloads | None = None
        self._initial = {(key, name) for key, _, name in self._places()}
        self._default_preemption = default_preemption
        self._token = token
        self._audit = audit
        self._parts: list[Component] = []
        self._surges: Surges | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Create the manifests' objects and start all components. Raises ManifestError."""
        self.begin()

    async def stop(self) -> None:
        """Stop serving, then stop all components."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.end()

    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve the API and the control paths; return the address. Raises OSError when the port is taken."""
        app = create_app(self.store, token=self._token, audit=self._audit)
        Control(self, self._token).attach(app)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        bound = self._runner.addresses[0]
        return f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"

    def begin(self) -> None:
        """Create the manifests' objects and start all components. Raises ManifestError."""
        recorder = Recorder(self.store, self.clock)
        self.scheduler = SimulatedScheduler(
            self.store, self.clock, recorder, default_preemption=self._default_preemption
        )
        self.replica_sets = ReplicaSets(self.store, self.clock, recorder)
        self._parts = [
            recorder,
            Kubelets(self.store, self.clock, self.pace, self.seed),
            self.replica_sets,
            Jobs(self.store, self.clock, recorder),
            DisruptionBudgets(self.store, self.clock),
            Volumes(self.store, self.clock),
            self.scheduler,
        ]
        for part in self._parts:
            part.start()
        create_all(self.store, self.documents)
        if self.script is not None:
            self.workloads = Workloads(self.store, self.pace, self.script, self.seed)
            self.workloads.start()
            surges, sync = list(self.script.surges), self.replica_sets.sync
            self._surges = Surges(self.store, self.scheduler, surges, sync, self.workloads.frees_room_in)

    def end(self) -> None:
        """Halt all components: from then on objects change only through the API."""
        if self.workloads is not None:
            self.workloads.stop()
        for part in self._parts:
            part.stop()

    def reset(self) -> None:
        """Return to the initial state, also for open watches. Leases and definitions are kept."""
        self.end()
        for key, namespace, name in self._places():
            if key not in KEPT_ON_RESET and (key, name) not in self._initial:
                self._remove(key, namespace, name)
        self.begin()

    def _places(self) -> list[tuple[str, str | None, str]]:
        """Return the place of every object: pods and their owners first, what they depend on last."""
        keys = sorted({kind.storage for kind in self.store.kinds}, key=lambda key: (key in _BASE, key))
        return [
            (key, obj["metadata"].get("namespace"), obj["metadata"]["name"])
            for key in keys
            for obj in self.store.list(key)
        ]

    def _remove(self, key: str, namespace: str | None, name: str) -> None:
        if self.store.find(key, namespace, name) is not None:
            self.store.remove(key, namespace, name)

    def surge(self) -> Object:
        """Force a preemption now, and return its description. Raises NotNowError."""
        if self._surges is None:
            raise NotNowError("No script is running, so no preemption can be triggered.")
        return self._surges.arrange()

    def state(self) -> Object:
        """Return the seed, the speed, the position in the script and the numbers of objects."""
        pods = self.store.list("pods")
        bound = [pod for pod in pods if pod["spec"].get("nodeName")]
        return {
            "seed": self.seed,
            "speed": self.pace.speed,
            "script": self._script_state(),
            "counts": {
                "nodes": len(self.store.list("nodes")),
                "pods": len(pods),
                "bound": len(bound),
                "pending": len(pods) - len(bound),
                "terminating": sum(1 for pod in pods if "deletionTimestamp" in pod["metadata"]),
                "jobs": len(self.store.list("jobs.batch")),
                "events": len(self.store.list("events")),
            },
            "resourceVersion": self.store.resource_version,
        }

    def _script_state(self) -> Object | None:
        workloads = self.workloads
        if workloads is None:
            return None
        upcoming = workloads.upcoming
        return {
            "source": workloads.script.source,
            "round": workloads.round,
            "position": round(workloads.position, 1),
            "length": workloads.script.length,
            "said": workloads.last_message,
            "next": {"at": round(upcoming[0], 1), "say": upcoming[1]} if upcoming else None,
        }


_BASE = ("nodes", "namespaces", "priorityclasses.scheduling.k8s.io", *KEPT_ON_RESET)
