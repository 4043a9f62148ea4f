"""Programs that sign in: whoever makes one run, if only to try, stands in the audit log."""

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.connections.access_methods import Way


def note_program(*, way: Way, actor: User | None, target: str) -> None:
    """Write down that a way's program is about to be run, if it has one. Raises SettingsError."""
    if way.program:
        details = {"program": way.program, "kubeconfig": way.path, "context": way.context}
        record(actor=actor, verb="program.run", target=target, details=details)
