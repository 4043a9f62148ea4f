"""What two tenants have in the world of the grid: every name says whose it is, and who may see it."""

from dataclasses import dataclass

MARKET = "root.market"
"""The fence within which both have a leaf."""
SHARED = "shared"
"""The cluster in which both have queues; each has one more of its own."""


def tree_of(cluster: str) -> str:
    """The name of a cluster's hierarchy."""
    return f"{cluster}-tree"


@dataclass(frozen=True)
class Side:
    """What somebody has; nearly every name begins with a canary of theirs."""

    canary: str
    tenant: str
    cluster: str
    hierarchy: str
    revision: int
    team: str
    queue: str
    """The leaf whose ask was made room for."""
    batch: str
    """The leaf that gave it."""
    met: str
    """A leaf of the market: it takes from the other's and gives to it."""
    namespace: str
    application: str
    priority_class: str
    node: str
    ask: str
    pod: str
    """The one that went for ``ask``."""
    workload: str
    """One that waits for Kueue's quota."""
    form: str
    """A format of documents."""
    nothing: str
    decision: int
    """The number of the decision that took ``pod`` for ``ask``."""
    draft: int
    """The number of a draft of a tree of theirs, which is the staff's."""
    comparison: int
    """The number of a comparison in the shared cluster, which is the staff's."""
    pause: int
    """The number of a pause of a queue of theirs."""
    window: int
    """The number of a window of theirs."""
    channel: int
    """The number of a channel by mail."""
    notification: str
    """The id of the first that the channel told."""
    token: int
    """The number of a token of a person of theirs."""
    mapping: int
    """The number of what a group of another door is at their tenant."""
    workload_identity: int
    """The number of a workload identity that acts as a service account named after theirs."""
    tenant_number: int
    """The number of their tenant."""
    user: int
    """The number of a person of theirs."""
    service: int
    """The number of a service account that is named after theirs."""
    event: int
    """The number of what the audit log says of their tenant."""
    run: int
    """The number of a pass over the shared cluster, which is the staff's."""
    snapshot: int
    """The number of a saved snapshot with their pod in it, which is the staff's."""
    saved: int
    """The number of filters by which the admin finds their decisions in the shared cluster's history."""

    @classmethod
    def of(cls, canary: str, *, met: str, revision: int = 1, number: int = 2**31) -> "Side":
        """All of somebody's names."""
        team = f"root.{canary}-team"
        plain = ("tenant", "cluster", "namespace", "application", "node", "ask", "pod")
        return cls(
            priority_class=f"class-of-{met}",
            canary=canary,
            hierarchy=tree_of(f"{canary}-cluster"),
            revision=revision,
            team=team,
            queue=f"{team}.{canary}-leaf",
            batch=f"{team}.{canary}-batch",
            met=f"{MARKET}.{met}",
            form="kueue",
            nothing=f"{canary}-nothing",
            workload=f"{canary}-application-workload-0",
            decision=number,
            draft=number,
            comparison=number,
            pause=number,
            window=number,
            mapping=number,
            workload_identity=number,
            token=number,
            tenant_number=number,
            user=number,
            service=number,
            event=number,
            run=number,
            snapshot=number,
            saved=number,
            channel=number,
            notification="00000000-0000-4000-8000-000000000000",
            **{name: f"{canary}-{name.replace('_', '-')}" for name in plain},
        )


MET = ("metred", "metblue")
"""The leaves that take from each other: of those, each tenant learns the other's name. Priority classes, which all
tenants of a cluster can use, have these in their names, too."""
RED, BLUE = (Side.of(canary, met=met) for canary, met in zip(("canaryred", "canaryblue"), MET, strict=True))
GUEST = {RED: BLUE, BLUE: RED}
"""Whose pods run in a side's queues as well: pods choose their queue."""
NOBODYS = Side.of("nosuch", met="nosuch-met", revision=2**31)
"""Names that nothing has."""
STAFF, ADMIN, SECRET = "canarystaff", "canaryadmin", "canarysecret"
"""Canaries of what is for those who see everything, for admins, and for nobody."""
MAY_SEE = {
    "anonymous": set[str](),
    "nobody": set[str](),
    "other": {BLUE.canary, *MET},
    "tenant": {RED.canary, *MET},
    "editor": {RED.canary, *MET},
    "auditor": {RED.canary, BLUE.canary, *MET, STAFF},
    "operator": {RED.canary, BLUE.canary, *MET, STAFF},
    "admin": {RED.canary, BLUE.canary, *MET, STAFF, ADMIN},
}
"""Who may see which canaries: a tenant the own ones, and of the other the name of the queue that took or gave."""
