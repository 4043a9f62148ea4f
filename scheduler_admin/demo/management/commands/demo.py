"""Run the demo on one machine until Ctrl-C: ``manage.py demo``. With ``--check``, test the demo and exit."""

import json
import os
import shutil
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.demo import assets, database, processes
from scheduler_admin.demo.check import Visitor
from scheduler_admin.demo.environment import CLUSTER, PORT, Place, keep
from scheduler_admin.demo.progress import Progress
from scheduler_admin.demo.seed import Seed, seed, seed_cluster
from scheduler_admin.demo.supervisor import DemoError, StoppedError, Supervisor

_CHECK_S = 180.0
"""Time within which a preemption must be decided, carried out and shown, even on a busy machine."""
_START_S = 120.0


class Command(BaseCommand):
    help = "Run Scheduler Admin on this machine with a simulated cluster."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=PORT, help="Port of the web server. Default: %(default)s.")
        parser.add_argument(
            "--simulator-port", type=int, help="Port of the simulated cluster. Default: the port after --port."
        )
        parser.add_argument("--folder", type=Path, help="Folder for the files of the demo. Default: var/demo.")
        parser.add_argument(
            "--speed", type=float, default=1.0, help="Speed of the simulated day. Default: %(default)s."
        )
        parser.add_argument("--check", action="store_true", help="Wait for a preemption, print measurements, and exit.")

    def handle(self, *_args: Any, **options: Any) -> None:
        self._progress = Progress(sys.stderr)  # with --check, standard output contains only the measurements
        place = Place(Path(settings.DATABASES["default"]["NAME"]).parent)
        try:
            with processes.alone(place):
                self._run(place, options)
        except DemoError as error:
            raise CommandError(str(error)) from error
        except StoppedError:
            if options["check"]:
                raise CommandError("Interrupted.") from None
        finally:
            place.socket.unlink(missing_ok=True)
        if not options["check"]:
            self._progress.say("The demo has stopped.")

    def _run(self, place: Place, options: dict[str, Any]) -> None:
        port, simulator_port = options["port"], options["simulator_port"] or options["port"] + 1
        for one in (port, simulator_port):
            processes.check_port(one)
        with Supervisor(place.logs, os.environ) as children:
            children.listen()
            with self._progress.step("Preparing the database and the static files"), children.working():
                self._prepare(place)
            with self._progress.step("Starting Redis"):
                children.start("redis", processes.redis(place))
                children.wait_for(place.socket.exists, "Redis", _START_S)
            began = time.monotonic()
            seeded = self._first_page(children, port)
            figures = {"first_page_s": round(time.monotonic() - began, 2)}
            if not options["check"]:
                self._welcome(seeded, place)
            self._start_rest(children, seeded, processes.simulator(place, simulator_port, options["speed"]), place)
            if options["check"]:
                self._check(children, seeded, began, figures)
                return
            self._progress.say("Everything is running. The first preemption follows within half a minute.")
            children.watch()

    def _prepare(self, place: Place) -> None:
        for old in (place.database, place.kubeconfig, place.folder / "beat"):
            for path in place.folder.glob(f"{old.name}*"):
                path.unlink()
        shutil.rmtree(settings.STATIC_ROOT, ignore_errors=True)
        keep(place)
        database.create()
        assets.collect()

    def _first_page(self, children: Supervisor, port: int) -> Seed:
        """Start the web server and fill the database meanwhile. Return when a page can be read."""
        children.start("web", processes.web(port))
        with self._progress.step("Creating the queue tree and the logins"), children.working():
            seeded = seed()
        visitor = Visitor(settings.SITE_URL)
        with self._progress.step("Starting the web server"):
            children.wait_for(lambda: visitor.can_read("/sign-in/"), "The first page", _START_S)
        return seeded

    def _start_rest(self, children: Supervisor, seeded: Seed, simulator: list[str], place: Place) -> None:
        """Start what pages can do without at first: the workers and the simulated cluster."""
        with self._progress.step("Starting the workers and the simulated cluster"):
            children.start("engine", processes.engine_worker())
            children.start("beat", processes.beat(place))
            children.start("housekeeping", processes.housekeeping_worker())
            children.start("comparisons", processes.comparisons_worker())
            # Last, so that the simulated day begins when the pages are ready.
            children.start("simulator", simulator)
            children.wait_for(place.kubeconfig.exists, "The simulated cluster", _START_S)
        with self._progress.step("Reading the simulated cluster for the first time"):
            self._enforce(children, seed_cluster(seeded, place.kubeconfig))

    def _enforce(self, children: Supervisor, cluster: Cluster) -> None:
        """Set mode enforce once the cluster has been read; a new cluster starts in mode observe."""

        def read() -> bool:
            return ClusterStatus.objects.filter(cluster=cluster, pass_at__isnull=False).exists()

        children.wait_for(read, "The first pass", _START_S)
        try:
            set_mode(
                cluster=cluster, mode=Cluster.Mode.ENFORCE, actor=None, reason="The demo shows evictions by the engine"
            )
        except ValidationError as error:
            raise DemoError("; ".join(error.messages)) from error

    def _check(self, children: Supervisor, seeded: Seed, began: float, figures: dict[str, Any]) -> None:
        visitor = Visitor(settings.SITE_URL)
        visitor.sign_in(seeded.admin)
        done = Decision.objects.filter(cluster__name=CLUSTER, ending=Decision.Ending.BOUND, victims__isnull=False)

        def readable() -> bool:
            row = done.first()
            return row is not None and row.ask_name in visitor.read(f"/clusters/{CLUSTER}/decisions/{row.pk}/")

        children.wait_for(readable, "The first completed preemption", _CHECK_S)
        figures["first_preemption_s"] = round(time.monotonic() - began, 2)
        figures["decisions"] = Decision.objects.count()
        figures["evictions"] = Victim.objects.filter(evicted_at__isnull=False).count()
        status = ClusterStatus.objects.get(cluster__name=CLUSTER)
        figures["pass_ms"] = round((status.pass_us or 0) / 1000, 1)
        self.stdout.write(json.dumps(figures))

    def _welcome(self, seeded: Seed, place: Place) -> None:
        site = settings.SITE_URL
        self._progress.say(
            f"""
Scheduler Admin is running at {site}

  admin   {seeded.admin.name} / {seeded.admin.password}
  tenant  {seeded.tenant.name} / {seeded.tenant.password}   (sees only the pods of its tenant)

  curl -H 'Authorization: Bearer {seeded.token}' {site}/api/v1/clusters/{CLUSTER}/queues
  kubectl --kubeconfig {place.kubeconfig} get pods -A

Pages to start with:
  Queues    usage and guarantee of every queue; select "Trigger a preemption" to see one
  Fences    which queues can preempt which, and which did
  History   all preemptions; each row opens the explanation
  My pods   the same explanation as a tenant sees it
  Editor    edit a draft of the queue tree and see what it would preempt before you publish it

To connect your own cluster (read-only): .venv/bin/python manage.py connect --context NAME

To stop the demo, press Ctrl-C. The next start begins with an empty database and new passwords. Logs: {place.logs}

You can sign in now. The workers and the simulated cluster are still starting.
"""
        )
