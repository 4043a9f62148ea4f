"""Taking a cluster away, with what is known of it."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.ledger.models import LedgerEntry
from scheduler_admin.usage.models import Usage, UsageSample


@transaction.atomic
def remove_cluster(*, cluster: Cluster, actor: User | None, reason: str, with_history: bool = False) -> None:
    """Forget a cluster and its credentials; its tree stays. Raises ValidationError.

    Not while something of ours may be in it: in enforce, while decisions are open, or before it has been tidied.
    Its history goes too, but only if ``with_history`` says so.
    """
    cluster = Cluster.objects.select_for_update().get(pk=cluster.pk)
    decisions = Decision.objects.filter(cluster=cluster)
    if cluster.mode == Cluster.Mode.ENFORCE:
        raise ValidationError(_("%(name)s is in Enforce mode. Set another mode first.") % {"name": cluster.name})
    if decisions.open().exists() or cluster.untidy:
        message = _(
            "%(name)s may still contain changes made by Scheduler Admin. The next pass that reads "
            "the cluster removes them. Then try again."
        )
        raise ValidationError(message % {"name": cluster.name})
    count = decisions.count()
    kept = any(model.objects.filter(cluster=cluster).exists() for model in (Usage, UsageSample, LedgerEntry))
    if not with_history and (count or kept):
        message = _(
            "%(name)s has a history (%(count)s decisions), which would be deleted too. To delete "
            "it, use --with-history, or with_history=true in the REST API."
        )
        raise ValidationError(message % {"name": cluster.name, "count": count})
    record(actor=actor, verb="cluster.remove", target=cluster.name, reason=reason, details={"decisions": count})
    cluster.delete()
