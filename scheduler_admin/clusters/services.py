"""Writes to clusters: adding them, and how far the engine may go there."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.policies import first_of, is_enforceable
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Heartbeat
from scheduler_admin.queues.models import Hierarchy


@transaction.atomic
def add_cluster(
    *,
    name: str,
    hierarchy: Hierarchy | None,
    kubeconfig: str,
    context: str = "",
    uid: str = "",
    actor: User | None = None,
) -> Cluster:
    """Add a cluster, in mode observe. ``kubeconfig`` is a path; empty means our own service account.

    Raises ValidationError.
    """
    cluster = Cluster(name=name, hierarchy=hierarchy, kubeconfig=kubeconfig, context=context, uid=uid)
    cluster.full_clean()
    cluster.save()
    record(actor=actor, verb="cluster.add", target=cluster.name)
    return cluster


def keep_uid(*, cluster: Cluster, uid: str) -> None:
    """Keep the UID of a cluster that was added without one; not where another cluster here is known by it."""
    if uid and not cluster.uid and not Cluster.objects.filter(uid=uid).exists():
        Cluster.objects.filter(pk=cluster.pk, uid="").update(uid=uid)


def note_heartbeat(*, worker: str, now: datetime) -> None:
    """A worker that owns no cluster is there."""
    Heartbeat.objects.update_or_create(worker=worker, defaults={"at": now})


@transaction.atomic
def set_mode(*, cluster: Cluster, mode: str, actor: User | None, reason: str, override: str = "") -> None:
    """Change how far the engine may go.

    Enforce is refused while the cluster's own scheduler would preempt beside us, or while that is not known yet;
    ``override``, the cluster's name, says that it is wanted all the same (as with a scheduler profile without
    DefaultPreemption, which can't be seen from outside). And always where the dialect is another scheduler's. Raises
    ValidationError.
    """
    if not reason.strip():
        raise ValidationError({"reason": _("Enter a reason. Other people will see it.")})
    if mode == Cluster.Mode.ENFORCE:
        _check_our_own(cluster)
        if override != cluster.name:
            _check_no_rival(cluster)
        status = ClusterStatus.objects.filter(cluster=cluster).first()
        cluster.schedulers_known = status.schedulers if status else None
    before, cluster.mode = cluster.mode, mode
    cluster.full_clean()
    cluster.save(update_fields=["mode", "schedulers_known"])
    if mode == Cluster.Mode.ENFORCE:  # only ever set here: somebody else may have done so since we read it
        cluster.untidy = True
        cluster.save(update_fields=["untidy"])
    details = {"mode": mode, "before": before}
    record(actor=actor, verb="cluster.mode", target=cluster.name, reason=reason.strip(), details=details)


def _check_our_own(cluster: Cluster) -> None:
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    if revision is None or is_enforceable(revision.policy, revision.dialect):
        return
    if first_of(revision.policy).by_quota:
        raise ValidationError(
            _(
                "Policy %(policy)s grants quota, and only Kueue keeps pods without quota from starting. "
                "Without Kueue, evicted pods would come back at once. Use the policy for advice, "
                "forecasts and comparisons; it can't be enforced."
            )
            % {"policy": revision.policy}
        )
    raise ValidationError(
        _("Dialect %(dialect)s of the queue tree describes another scheduler's behavior, so it can't be enforced.")
        % {"dialect": revision.dialect}
    )


def _check_no_rival(cluster: Cluster) -> None:
    status = ClusterStatus.objects.filter(cluster=cluster).first()
    if status is None or status.pass_at is None:
        raise ValidationError(
            _("The cluster has not been read yet, so its priority classes are unknown. Enforce mode needs them.")
        )
    if status.schedulers:
        raise ValidationError(
            _(
                "Other schedulers run in this cluster and may preempt pods too: %(names)s. If all of them "
                "are to preempt, confirm with the cluster's name."
            )
            % {"names": ", ".join(status.schedulers)}
        )
    if status.rivals == [""]:
        raise ValidationError(
            _(
                "The cluster's own scheduler would preempt at once and across fences for pods without a "
                "priority class. Create a default PriorityClass (globalDefault: true) with "
                'preemptionPolicy Never and the annotation scheduler-admin.io/may-preempt: "true". Then '
                "recreate the pending pods. To enforce anyway, confirm with the cluster's name."
            )
        )
    if status.rivals:
        classes = ", ".join(name or _("(no priority class)") for name in status.rivals)
        raise ValidationError(
            _(
                "The cluster's own scheduler would preempt at once and across fences for pods of these "
                "priority classes: %(classes)s. Recreate the classes with preemptionPolicy Never and the "
                'annotation scheduler-admin.io/may-preempt: "true". Then recreate the pending pods. To '
                "enforce anyway, confirm with the cluster's name."
            )
            % {"classes": classes}
        )
