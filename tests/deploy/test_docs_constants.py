"""Every number of the documents that the code defines as a constant: changing either one alone fails here.

A row is a piece of a document, with its numbers formatted from the constants. To change a constant, change the document
as well; to rephrase a sentence, rephrase its row.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache

import pytest
import yaml
from django.conf import settings

from engine.analysis.optimum.branch_and_bound import _MOST_STEPS, MOST_CANDIDATES
from engine.cluster.acting.allocations import AGAIN_S, LONGEST_S
from engine.cluster.acting.lease import DURATION_S, LONGEST_REASON
from engine.cluster.acting.pod_events import LONGEST_MESSAGE as LONGEST_EVENT
from engine.cluster.connecting.access import _REREAD_S, _SELDOM_S
from engine.cluster.connecting.connection import LARGEST as LARGEST_PAGE_OF_A_LIST
from engine.cluster.connecting.connection import LARGEST_FAILURE, LONGEST_LINE
from engine.cluster.connecting.identity import LIMIT_S as SOMEBODY_WAITS_S
from engine.cluster.connecting.kubeconfig import LONGEST as LONGEST_KUBECONFIG
from engine.cluster.connecting.offered import MOST as MOST_KUBECONFIGS
from engine.cluster.connecting.paging import MOST_PAGES
from engine.cluster.connecting.plugins import _MOST_BYTES as LARGEST_OF_A_PROGRAM
from engine.cluster.connecting.plugins import LIMIT_S as PROGRAM_S
from engine.cluster.errors import _LONGEST_WAIT_S
from engine.cluster.inspection.check import ENDS_SOON, SKEW_S
from engine.cluster.sync.effects import LONGEST_WORDS
from engine.cluster.watching.supervised import LONGEST_S as THREAD_BEGINS_AGAIN_S
from engine.cluster.watching.watcher import ABSENT_S
from engine.cluster.watching.yunikorn import BATCH, EVENTS_EVERY_S, FIRST, QUEUES_EVERY_S, QUIET_EVERY_S
from engine.cluster.watching.yunikorn import LARGEST as LARGEST_OF_YUNIKORN
from engine.formats.registry import _LONG
from engine.formats.registry import LARGEST as LARGEST_DOCUMENT
from engine.formats.tree_json.placement import MOST_NAMES, MOST_RULES
from engine.formats.yaml.documents import DEEPEST, MOST_NOTES, MOST_VALUES
from engine.formats.yaml.libyaml import LONGEST_ODD
from engine.formats.yaml.merge_keys import MOST_MERGED
from engine.model.go_regexp import _MOST_MEMORY, LONGEST_EXPRESSION, LONGEST_TEXT
from engine.model.notes import MOST_QUEUES
from engine.model.objects.kubernetes import HIGHEST_PRIORITY, SYSTEM_PRIORITY
from engine.model.queue_tree import DEFAULT_DELAY_MS, WEIGHT_ONE
from engine.model.snapshot.cluster_state import CHANGES_KEPT
from engine.observation.evictions.agreement import SAMPLED_FROM
from engine.observation.evictions.sightings import EVENT_WAIT_MS
from engine.observation.preemption_loops import REPEATED_FROM
from engine.observation.replay import PODS_AT_ONCE, TIMES_OVER
from engine.observation.replay.kueue_counterfactuals import _FEW, _WORKLOADS
from engine.observation.replay.kueue_counterfactuals import FIRST as FIRST_WORKLOADS
from engine.observation.replay.volcano import _MOST as MOST_PAIRS_OF_VOLCANO
from engine.observation.wait_estimates import FEWEST
from engine.planning.comparison.recording import SHORTEST_MS, STEPS
from engine.planning.comparison.rerun import PASSES as PASSES_A_LOOK
from engine.planning.forecast import PASSES as PASSES_OF_A_FORECAST
from engine.policies.common.victim_search import _TRIES
from engine.policies.deserved.node_candidates import MAX_SEARCHED_NODES
from engine.policies.deserved.trace import _MAX_LISTED
from engine.policies.priority.counterfactuals import _VICTIMS
from engine.policies.volcano.amounts import ONE as UNIT_OF_VOLCANO
from engine.policies.yunikorn.node_candidates import _BATCH as NODES_OF_YUNIKORN
from engine.tree.lint.kueue import LEAST_WEIGHT
from scheduler_admin.accounts.models import KeptAnswer
from scheduler_admin.accounts.oidc import LONGEST_S as PROVIDER_S
from scheduler_admin.accounts.oidc import MOST_BYTES as LARGEST_OF_A_PROVIDER
from scheduler_admin.accounts.oidc import MOST_GROUPS
from scheduler_admin.accounts.pages.oidc import SESSION_S
from scheduler_admin.accounts.services.idempotency import KEPT as ANSWERS_KEPT
from scheduler_admin.accounts.services.own_tokens import MOST as MOST_TOKENS
from scheduler_admin.accounts.services.tokens import DEFAULT_LIFETIME
from scheduler_admin.clusters.connections.token_reviews import _LONGEST as LONGEST_TOKEN
from scheduler_admin.clusters.connections.token_reviews import REMEMBERED_S
from scheduler_admin.clusters.forms.connections import SEALED_S
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.breakers import GAP_S, NOT_READY_PERCENT, STALE_S, Writes
from scheduler_admin.clusters.safeguards.breakers import SKEW_S as BREAKER_SKEW_S
from scheduler_admin.clusters.status.pending_workloads import _KEPT as PENDING_KEPT
from scheduler_admin.clusters.status.priority_classes import _PLACES_KEPT
from scheduler_admin.clusters.status.quota import _WORKLOADS as WORKLOADS_EXPLAINED
from scheduler_admin.clusters.status.store import _APPLICATIONS_KEPT
from scheduler_admin.clusters.watching.ownership import ALIVE
from scheduler_admin.clusters.watching.sharing import TURN_S
from scheduler_admin.clusters.watching.watchers import REQUEST_TIMEOUT_S
from scheduler_admin.comparisons.services import KEPT as COMPARISONS_KEPT
from scheduler_admin.comparisons.services import KEPT_FOR, OPEN_ALL, OPEN_EACH
from scheduler_admin.comparisons.services import LONGEST as LONGEST_COMPARISON
from scheduler_admin.comparisons.services import SILENT as COMPARISON_SILENT
from scheduler_admin.comparisons.sides import MOST as MOST_SIDES
from scheduler_admin.comparisons.tasks import LIMIT_S as COMPARISON_S
from scheduler_admin.counts.selectors.filtered import COUNTED, COUNTED_APART
from scheduler_admin.counts.selectors.stored import MOST_KINDS, MOST_READ
from scheduler_admin.decisions.api.events import LONGEST_S as STREAM_S
from scheduler_admin.decisions.selectors.history_filters import LONGEST as LONGEST_HISTORY
from scheduler_admin.decisions.selectors.query import REPEATED
from scheduler_admin.decisions.services.saved_filters import MOST_KEPT as MOST_FILTERS
from scheduler_admin.demo.simulator_client import _LARGEST as LARGEST_OF_THE_SIMULATOR
from scheduler_admin.demo.simulator_client import TIMEOUT_S as SIMULATOR_S
from scheduler_admin.fences.api.fences import _SINCE as FENCES_SINCE
from scheduler_admin.journal.presenters import MOST_PODS
from scheduler_admin.journal.services.journal import KEYFRAME_EVERY, OUTGROWN
from scheduler_admin.journal.services.snapshots import MOST_BYTES as LARGEST_SNAPSHOT
from scheduler_admin.journal.services.snapshots import MOST_KEPT as MOST_SNAPSHOTS
from scheduler_admin.ledger.loops import _MOST_PAIRS, MOST_LISTED
from scheduler_admin.ledger.loops import _MOST_READ as VICTIMS_OF_A_LOOP
from scheduler_admin.ledger.loops import DAY as LOOP_WITHIN
from scheduler_admin.metrics.stored import QUEUES as METRIC_QUEUES
from scheduler_admin.metrics.stored import RESOURCES as METRIC_RESOURCES
from scheduler_admin.nodes.pages.context import _NEARLY
from scheduler_admin.notifications.delivery.send import _AT_ONCE, _FIRST_RETRY, _LONGEST_RETRY, GIVEN_UP, PER_MINUTE
from scheduler_admin.notifications.events.shortfalls import MARKS_MIN
from scheduler_admin.notifications.selectors import SHOWN
from scheduler_admin.notifications.services import _KEY_BYTES
from scheduler_admin.notifications.services import MOST as MOST_CHANNELS
from scheduler_admin.pending.waits import _WITNESSED, LOOKED_BACK
from scheduler_admin.pending.waits import KEPT as WAITS_KEPT
from scheduler_admin.queues.api.documents import MOST_ERRORS
from scheduler_admin.queues.drafts.storage import MOST_ACTS
from scheduler_admin.queues.selectors.tree_filters import FOLDED_TO, MANY
from scheduler_admin.rest.base import LARGEST_BODY as LARGEST_REQUEST
from scheduler_admin.rest.pagination import LARGEST_PAGE, PAGE
from scheduler_admin.rest.streams.events import _RETRY_MS, HEARTBEAT_S
from scheduler_admin.rest.streams.seats import MOST as MOST_STREAMS
from scheduler_admin.rest.streams.seats import MOST_EACH as MOST_STREAMS_EACH
from scheduler_admin.site.allowances import LARGEST_BODY as LARGEST_FORM
from scheduler_admin.sync.observation import SETTLES
from scheduler_admin.sync.services import LARGEST_CONFIG_MAP
from scheduler_admin.sync.visits import EVERY as COPY_EVERY
from scheduler_admin.sync.writes import BEGUN_WITHIN
from scheduler_admin.usage.runs import LEVELS
from scheduler_admin.usage.samples import INTERVAL
from scheduler_admin.usage.selectors import POINTS
from scheduler_admin.worker.acting.safeguards import COOL_DOWN, LONGEST_COOL_DOWN
from scheduler_admin.worker.reclaim_notices import PODS as PODS_TOLD
from scheduler_admin.worker.reclaim_notices import QUEUES as QUEUES_TOLD
from scheduler_admin.worker.retention import KEEP_NOTED, KEEP_NOTIFICATIONS, KEEP_PASSES, KEEP_PREEMPTIONS
from scheduler_admin.worker.tasks import SILENT, TALLYING_S
from tests.deploy.settings_page import SOURCE, defaults
from tests.deploy.test_compose import BASE
from tests.deploy.wording import count, every, kib, mb, mib, ordinal, seconds, span, spelled, word

API_VERSION = str(settings.SPECTACULAR_SETTINGS["VERSION"])
MAJOR = API_VERSION.partition(".")[0]
DEFAULT = {name: text.strip("`") for name, text in defaults(SOURCE.read_text(encoding="utf-8")).items()}
"""Environment variable -> its default: the tests have settings of their own."""
LEASE_READ_S = DURATION_S / 3
LOCK_WAIT = int(DEFAULT["LOCK_WAIT_S"])
SIGN_IN_WAIT = timedelta(minutes=int(DEFAULT["SIGN_IN_WAIT_MINUTES"]))
RENEWED = timedelta(seconds=settings.OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS)
BEAT = {name: entry["schedule"] for name, entry in settings.CELERY_BEAT_SCHEDULE.items()}
WEB = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["web"]
THREADS = WEB["command"][WEB["command"].index("--threads") + 1]
PORT = WEB["ports"][0].partition("${PORT:-")[2].partition("}")[0]
RULES = yaml.safe_load((BASE / "deploy" / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
ALERTS = {rule["alert"]: rule for group in RULES for rule in group["rules"]}
_, COARSER, COARSEST = (timedelta(seconds=level.span) for level in LEVELS)


def limit(name: str) -> int:
    """Return the default of a cluster's limit."""
    return Cluster._meta.get_field(name).default


def waits(alert: str) -> float:
    """Return for how many seconds an alert's condition has to hold."""
    return float(ALERTS[alert]["for"].removesuffix("m")) * 60


def threshold(alert: str) -> float:
    """Return the number above which an alert's expression is."""
    return float(re.split(r"[>+] ", ALERTS[alert]["expr"])[-1])


SENTENCES: Mapping[str, Sequence[str]] = {
    "docs/api.md": (
        f"Version {API_VERSION}, under `/api/v{MAJOR}`",
        f"It works until it **expires**: after {span(DEFAULT_LIFETIME, 'day')} by default",
        f"`lifetime_days` defaults to {DEFAULT_LIFETIME.days}",
        f"| a token | {DEFAULT['API_RATE']} |",
        f"| an address without a valid token | {DEFAULT['API_RATE_ANONYMOUS']} |",
        f"more than {DEFAULT['WORK_S_A_MINUTE']} s of CPU time of a web process within a minute",
        f"You uploaded more than {DEFAULT['UPLOAD_MB_AN_HOUR']} MB within an hour",
        f"a text of at most {KeptAnswer._meta.get_field('key').max_length} characters",
        f"the request again within {spelled(ANSWERS_KEPT)} with the same token and key",
        f"The default is the last hour, and the longest period is {spelled(LONGEST_HISTORY, 'year')}",
        f"The step is {word(INTERVAL.seconds)} seconds if the period is",
        f"at most about {POINTS} samples",
        f"`limit` defaults to {PAGE}, with a maximum of {LARGEST_PAGE}",
        f"[preempted {word(REPEATED)} times or more]",
        f"`POST` saves a filter, at most {MOST_FILTERS} of them",
        f"by default, in the last {spelled(FENCES_SINCE)}",
        f"retry: {_RETRY_MS} ",
        f"an application is preempted for the {ordinal(REPEATED)} time in 24 hours",
        f"once in {span(LOOP_WITHIN, 'hour')} while the loop lasts",
        f"for {', '.join(map(count, MARKS_MIN[:-1]))} and {count(MARKS_MIN[-1])} `minutes`",
        f"Events are kept for {spelled(KEEP_NOTED)}",
        f"A comment is sent after {word(HEARTBEAT_S)} seconds without an event.",
        f"A stream ends after {spelled(STREAM_S)}",
        f"can follow {word(MOST_STREAMS_EACH)} streams at a time",
        f"A web process serves {word(MOST_STREAMS)} streams",
        f"It takes some seconds, {word(SOMEBODY_WAITS_S)} at most",
        f"lists the newest {word(SHOWN)} failed ones",
        f"A person can have {word(OPEN_EACH)} open comparisons, and the site {word(OPEN_ALL)}",
        f"A cluster can have {word(MOST_SNAPSHOTS)} snapshots",
        f"(`application/json`); at most {mb(LARGEST_SNAPSHOT)}",
        f"At most {word(PENDING_KEPT)} of a cluster are stored",
        f"the largest {word(_PLACES_KEPT)} first",
        f"or set with `?format=`), at most {mib(LARGEST_DOCUMENT)}",
        f"| 413, 415 | more than {mib(LARGEST_DOCUMENT)};",
    ),
    "docs/architecture.md": (
        f"Beat asks {every(BEAT['due-clusters'])} which clusters are due",
        f"is done by the web process itself, within {spelled(SOMEBODY_WAITS_S)}",
        f"A new segment begins after {spelled(KEYFRAME_EVERY)}, when its entries are {word(OUTGROWN)} times as large",
        f"no statement waits for a lock longer than {span(LOCK_WAIT, 'second')}",
        f"or after {word(PASSES_OF_A_FORECAST)} passes",
    ),
    "docs/beside-others.md": (f"running applications of any subtree, the {word(_APPLICATIONS_KEPT)} largest",),
    "docs/compare.md": (
        f"It compares up to {word(MOST_SIDES)} configurations, on one moment",
        f"on a recorded period of up to {span(LONGEST_COMPARISON, 'hour')}",
        f"at most {count(STEPS)} equal steps of {spelled(SHORTEST_MS / 1000).replace('one', 'a')} or more",
        f"(for a day: every {LONGEST_COMPARISON / STEPS / timedelta(seconds=1):g} s",
        f"up to {word(PASSES_A_LOOK)} passes per step",
        f"ends without a result after {span(COMPARISON_S, 'minute')}",
        f"can have {word(OPEN_EACH)} open comparisons, all people together {word(OPEN_ALL)}.",
        f"are kept for {span(KEPT_FOR, 'day')}, {COMPARISONS_KEPT} at most",
    ),
    "docs/concepts.md": (
        f"the last {MOST_ACTS} in a draft",
        f"After {spelled(EVENT_WAIT_MS / 1000)} without an Event",
        f"The worker keeps the last {count(CHANGES_KEPT)} changes of a cluster",
        f"samples a tenth of the nodes in clusters of more than {word(SAMPLED_FROM)}.",
        f"the replays of one pass cover at most {count(PODS_AT_ONCE)} pods in total",
        f"in clusters of more than {count(PODS_AT_ONCE / TIMES_OVER)} pods",
        f"Counterfactuals cover the first {word(FIRST_WORKLOADS)} victims",
        f"are left out above {count(_WORKLOADS / _FEW)} workloads",
        f"With more than {count(MOST_PAIRS_OF_VOLCANO)} pairs of a pending and a running pod",
        f"From {word(REPEATED)} times on, the pages of the pod",
        f"{'twice' if REPEATED_FROM == 2 else REPEATED_FROM} or more in the last {span(LOOP_WITHIN, 'hour')}",
        f"at most the newest {count(VICTIMS_OF_A_LOOP)} victims of the day and {_MOST_PAIRS} pairs",
        f"reports the {word(MOST_LISTED)} smallest loops",
        f"it is reported once in {span(LOOP_WITHIN, 'hour')}",
        f"the decisions that they came from are dropped after {spelled(KEEP_PREEMPTIONS, 'year')}",
        f"Clusters with more than {count(WORKLOADS_EXPLAINED)} workloads do not get it",
        f"pods of the same queue in the last {span(LOOKED_BACK, 'day')}",
        f"If fewer than {word(FEWEST)} such pods got room, it uses all pods of the queue",
        f"With fewer than {word(FEWEST)} of these, there is no estimate",
        f"If no pass ran within {spelled(_WITNESSED)} of either",
        f"Waits are kept for {spelled(WAITS_KEPT, 'week')}",
        f"a tree of up to {MANY} queues is open. A larger tree opens as many levels as make {FOLDED_TO} rows",
        f"A longer list shows its first {MANY} rows",
        f"*nearly full* from {_NEARLY * 100:g} % on",
    ),
    "docs/decisions/0008-sqlite-or-postgresql.md": (
        f"nothing waits longer than {span(LOCK_WAIT, 'second')} for a lock",
    ),
    "docs/formats.md": (
        f"A document has at most {mib(LARGEST_DOCUMENT)}, {count(MOST_QUEUES)} queues",
        f"brackets {DEEPEST} deep, and {count(MOST_VALUES)} values",
        f"duplicate keys can have {kib(LONGEST_ODD)}",
        f"Kubernetes limits a ConfigMap to {mib(LARGEST_CONFIG_MAP)}",
        f"In a document longer than {kib(LONGEST_ODD)}, a change",
    ),
    "docs/holding-the-room.md": (f"(`bind_margin_s`, {seconds(limit('bind_margin_s'))})",),
    "docs/lint.md": (f"a weight above 0 and of at most {f'{(LEAST_WEIGHT - 1) / WEIGHT_ONE:.12f}'.rstrip('0')}",),
    "docs/guides/give-a-team-more.md": (f"enter a time of up to {span(LONGEST_COMPARISON, 'hour')}",),
    "docs/operations/alerts.md": (
        f"has been older than {spelled(threshold('SchedulerAdminClusterNotRead'))},",
        f"older than a minute, for {spelled(waits('SchedulerAdminClusterNotRead'))}.",
        f"For {spelled(waits('SchedulerAdminClusterUnreadable'))} the cluster could not be read completely",
        f"For {spelled(waits('SchedulerAdminConfigurationRejected'))} the scheduler of the cluster has not used",
        f"A worker has sent no heartbeat for {spelled(threshold('SchedulerAdminWorkerDown'))}.",
        f"For {spelled(waits('SchedulerAdminPassesFailing'))} passes have ended with an error",
        f"restarted after a while, at most {spelled(THREAD_BEGINS_AGAIN_S)} later",
        f"For {spelled(waits('SchedulerAdminPassesSlow'))} one pass in twenty",
        f"has taken {spelled(threshold('SchedulerAdminPassesSlow'))} or more",
        f"has been open for {spelled(waits('SchedulerAdminEvictionsOnHold'))}",
        f"For {spelled(waits('SchedulerAdminNoLease'))} nobody has held the Lease",
        f"There are more than {word(threshold('SchedulerAdminPodsWithoutQueue'))} more pods",
        f"has been below its guarantee for {spelled(threshold('SchedulerAdminBelowGuarantee'))} while",
        f"More than {word(threshold('SchedulerAdminNotificationsPending'))} messages",
        f"have been waiting for {spelled(waits('SchedulerAdminNotificationsPending'))}.",
        f"Messages are tried again for {spelled(GIVEN_UP)}, then",
    ),
    "docs/operations/connect.md": (
        f"it gets no terminal and {seconds(PROGRAM_S)}",
        f"with a warning {spelled(ENDS_SOON, 'week')} before",
        f"loads them again (at most every {seconds(_SELDOM_S)})",
        f"It reads token files again {every(_REREAD_S)}",
        f"more than {seconds(SKEW_S)} is a warning",
    ),
    "docs/operations/install.md": (
        f"refuse bodies of more than {(LARGEST_SNAPSHOT + LARGEST_FORM) // 10**6} MB",
        f"`web` listens on 127.0.0.1:{PORT} only",
        f"and `PORT` ({PORT})",
        f"Each process of `web` has {THREADS} threads.",
        f"[Streams of events](../api.md#events) may hold {word(MOST_STREAMS)} of them",
        f"one that was running is shown as failed after {spelled(COMPARISON_SILENT)}",
        f"asks {every(BEAT['due-clusters'])} which clusters are due",
        f"takes clusters from workers that have more, one {every(TURN_S).replace('every', 'a')}",
        f"go to another one once it was not heard of for {seconds(ALIVE)}",
    ),
    "docs/operations/modes.md": (
        f"the {count(LONGEST_EVENT)} bytes of an Event",
        f"after one duration of the Lease ({seconds(DURATION_S)})",
        f"a value beyond 32 bits or above {count(HIGHEST_PRIORITY)}",
    ),
    "docs/operations/monitoring.md": (
        f"unreadable after {spelled(STALE_S)} without a whole answer",
        f"in steps of {spelled(INTERVAL)}",
        f"at most {METRIC_QUEUES} queues have samples, those nearest to the root",
        f"each with at most {METRIC_RESOURCES} resources",
        f"So there are at most {3 * METRIC_RESOURCES + 3} samples a queue",
    ),
    "docs/operations/notifications.md": (
        f"preempted for the {ordinal(REPEATED)} time in 24 hours",
        f"tried again after {', '.join(seconds(times * _FIRST_RETRY) for times in (1, 2, 4))} and so on",
        f"at most {spelled(_LONGEST_RETRY)} apart, and given up after {spelled(GIVEN_UP)}",
        f"A tenant has at most {word(MOST_CHANNELS)} channels.",
        f"expire within {span(ENDS_SOON, 'day')}",
        f"`whsec_` and {min(_KEY_BYTES)} to {max(_KEY_BYTES)} random bytes in base64",
        f"A channel gets at most {word(PER_MINUTE)} messages a minute",
        f"Sent messages are kept for {span(KEEP_NOTIFICATIONS, 'day')}",
    ),
    "docs/operations/other-schedulers.md": (
        f"every {seconds(EVENTS_EVERY_S)} while anything happens there, else every {seconds(QUIET_EVERY_S)};",
        f"at most {count(BATCH)} at once, each once |",
        f"of earlier events, the last {count(FIRST)}",
        f"| every {seconds(QUEUES_EVERY_S)} |",
        f"A request may take {seconds(REQUEST_TIMEOUT_S)} and its answer at most {mib(LARGEST_OF_YUNIKORN)}",
        f"or within {spelled(ABSENT_S)} of it",
        f"A pass spends at most {spelled(LONGEST_S)} on all of this",
        f"it is tried again after {spelled(AGAIN_S)}",
        f"checks the configuration once {spelled(COPY_EVERY)}",
        f"has not accepted the configuration after {span(SETTLES, 'second')}",
        f"If it does not start within {spelled(BEGUN_WITHIN)}, it is given up",
    ),
    "docs/operations/people.md": (
        f"It is valid for {span(DEFAULT_LIFETIME, 'day')} unless you choose another time",
        f"After {word(int(DEFAULT['SIGN_IN_FAILURES']))} wrong passwords for a name from one address",
        f"for {spelled(SIGN_IN_WAIT)} after the last wrong password",
        f"After {DEFAULT['API_RATE_ANONYMOUS']} requests a minute without a valid token",
        f"more than {spelled(RENEWED)} after the last check",
        f"A session ends {spelled(SESSION_S)} after the last answer",
        f"remembers the answer for {spelled(REMEMBERED_S)} under a keyed digest",
    ),
    "docs/operations/retention.md": (
        f"| decisions that evicted, or would have | {span(KEEP_PREEMPTIONS, 'year')} |",
        f"| other decisions | {span(KEEP_NOTED, 'day')} after they were last considered |",
        f"| [events](../api.md#events) | {span(KEEP_NOTED, 'day')} |",
        f"| passes | {span(KEEP_PASSES, 'day')} |",
        f"| waiting times of pending pods | {span(WAITS_KEPT, 'week')} |",
        f"| sent notifications | {span(KEEP_NOTIFICATIONS, 'day')} |",
        f"| [comparisons](../compare.md) | {span(KEPT_FOR, 'day')}, {COMPARISONS_KEPT} at most |",
        f"| {DEFAULT['USAGE_10S_HOURS']} hours, {DEFAULT['USAGE_1MIN_DAYS']} days,",
        f"days, {DEFAULT['USAGE_1H_DAYS']} days (`USAGE_10S_HOURS`",
        f"| {DEFAULT['JOURNAL_MB']} MB (`JOURNAL_MB`) |",
        f"Usage is sampled {every(INTERVAL)}.",
        f"The housekeeping worker rolls it up once {spelled(BEAT['roll-up-usage'])}",
        f"to points of {spelled(LEVELS[1].step)} after {spelled(COARSER)}",
        f"and to points of {spelled(LEVELS[2].step)} after {spelled(COARSEST, 'week').replace('one', 'a')}",
        f"makes once {spelled(BEAT['tally-hours'])}: of each hour that is over",
        f"it catches up for {spelled(TALLYING_S)} {every(BEAT['tally-hours']).replace('every', 'a')}",
        f"the newest {count(COUNTED)} of them, and the page says back to when",
        f"A page adds up {word(MOST_KINDS)} kinds of preemptions at most",
        f"{'half of that' if 2 * MOST_READ == MOST_KINDS else MOST_READ} for a queue",
        f"Every {spelled(BEAT['prune'])} the rest is deleted, in pieces of up to {spelled(KEYFRAME_EVERY)}",
    ),
    "docs/operations/safeguards.md": (
        f"reads the Lease every {spelled(LEASE_READ_S)}, before it may act again. So within {spelled(LEASE_READ_S)}",
        f"less than {seconds(COOL_DOWN)} ago; each further failure doubles that, up to {spelled(LONGEST_COOL_DOWN)}",
        f"the largest number of nodes is reserved already ({limit('reserved_nodes')})",
        f"would exceed the evictions of a pass ({limit('evictions_per_pass')})",
        f"would exceed the evictions of a minute ({limit('evictions_per_minute')})",
        f"would lose too many pods in a minute ({limit('evictions_per_queue')} each)",
        f"would lose too many pods in a minute ({limit('evictions_per_namespace')} each)",
        f"would lose too many pods in a minute ({limit('evictions_per_node')} each)",
        f"less than `min_run_s` ({seconds(limit('min_run_s'))})",
        f"a kind of objects could not be followed for {seconds(GAP_S)}",
        f"differ by more than {seconds(BREAKER_SKEW_S)}",
        f"more than {NOT_READY_PERCENT} % of the nodes are not ready",
        f"of our last {Writes.LAST} evictions and reservations within {span(Writes.WITHIN_S, 'minute')}",
        f"{Writes.FEWEST} or more failed",
        f"one decision tries {spelled(Writes.AGAIN_S)} after the last failure.",
        f"Or after {span(Writes.WITHIN_S, 'minute')} without any",
        f"If the state of the cluster is older than {seconds(STALE_S)}, not even a pass runs",
        f"if no pass has begun for {seconds(SILENT)}",
    ),
    "docs/operations/upgrade.md": (f"A migration that waits {span(LOCK_WAIT, 'second')} for a table",),
    "docs/performance.md": (
        f"at most the newest {count(COUNTED)}.",
        f"at most the newest {COUNTED_APART}.",
    ),
    "docs/policies/deserved.md": (
        f"on the pods that would be evicted first, on at most {word(PODS_TOLD)}, once.",
        f"At most {word(QUEUES_TOLD)} queues get such Events in a pass",
        f"else {span(DEFAULT_DELAY_MS / 1000, 'second')}. The notice stays",
        f"then those with the most, {word(_MAX_LISTED)} in all",
        f"candidates are tried on the {word(MAX_SEARCHED_NODES)} cheapest nodes, {word(_TRIES)} on each",
        f"here amounts are integers, {word(UNIT_OF_VOLCANO)} to the unit",
    ),
    "docs/policies/fence.md": (
        f"(`preemption.delay`, {seconds(DEFAULT_DELAY_MS / 1000)} by default)",
        f"policy tries other sets, at most {_TRIES} on a node",
        f"those with more than {MOST_CANDIDATES} candidates",
        f"did not reach in {count(_MOST_STEPS)} steps",
        f"pods with a priority of {count(SYSTEM_PRIORITY)} or more",
    ),
    "docs/policies/priority.md": (
        f"For each of the first {word(_VICTIMS)} victims",
        f"at least {SAMPLED_FROM}, starting at a random one",
        f"those with more than {MOST_CANDIDATES} candidates",
        f"did not reach in {count(_MOST_STEPS)} steps",
    ),
    "docs/policies/yunikorn.md": (
        f"or that of a queue above ({seconds(DEFAULT_DELAY_MS / 1000)})",
        f"Of the {word(NODES_OF_YUNIKORN)} nodes with the fewest victims",
        f"are the next {word(NODES_OF_YUNIKORN)} examined",
    ),
    "docs/threat-model.md": (
        f"A picture older than {seconds(STALE_S)} is not acted on",
        f"under a keyed digest, for {spelled(REMEMBERED_S)}, whether it is good",
        f"It has an expiry ({span(DEFAULT_LIFETIME, 'day')} by default)",
        f"a user has {word(MOST_TOKENS)} of them at most",
        f"({(LARGEST_SNAPSHOT + LARGEST_FORM) // 10**6} MB where files are uploaded, for",
        f"REST {word(LARGEST_REQUEST / 2**20)} ({LARGEST_SNAPSHOT // 10**6} where snapshots are uploaded, ",
        f"it carries them sealed, for {spelled(SEALED_S)}",
        f"has {word(MOST_STREAMS_EACH)} at most and a process {word(MOST_STREAMS)}, beside the threads for pages",
        f"Each ends after {spelled(STREAM_S)}",
        f"{word(MOST_CHANNELS).capitalize()} channels a tenant, {word(PER_MINUTE)} messages a minute for each",
        f"and slow receivers {word(_AT_ONCE)} channels at a time",
        f"After {word(int(DEFAULT['SIGN_IN_FAILURES']))} wrong passwords for a name from an address, that name",
        f"cannot sign in from there for {spelled(SIGN_IN_WAIT)}",
        f"matched by RE2: {count(LONGEST_EXPRESSION)} characters and {mib(_MOST_MEMORY)} of memory for an expression",
        f"{LONGEST_TEXT} characters of a name",
        f"it is begun again after a while, at most {spelled(THREAD_BEGINS_AGAIN_S)}",
        f"The slower ruamel.yaml is used only up to {kib(LONGEST_ODD)}",
        f"the worst that {mib(LARGEST_DOCUMENT)} can hold",
        f"After {count(MOST_VALUES)} values or {count(MOST_NOTES)} unknown fields reading ends",
        f"the first {count(MOST_ERRORS)} errors are listed",
        f"one document of more than {mib(_LONG)} at a time",
        f"where snapshots are uploaded, {mib(LARGEST_DOCUMENT)} where trees are",
        f"{spelled(RENEWED)} with pages that are opened, {spelled(SESSION_S)} with one that only refreshes itself",
        f"| a request to a page | anyone | {mib(LARGEST_FORM)}, checked",
        f"| a file on *Import a tree* | admin, editor | {mib(LARGEST_DOCUMENT)} and a form of {mib(LARGEST_FORM)};",
        f"| {mb(LARGEST_SNAPSHOT)}, also unpacked, and a form of {mib(LARGEST_FORM)}; `UPLOAD_MB_AN_HOUR` a person",
        f"{MOST_SNAPSHOTS} for each cluster | tried with {count(MOST_PODS)} pods at most;",
        f"| a request to the REST API | anyone | {mib(LARGEST_REQUEST)}, checked",
        f"| a token | anyone | {kib(LONGEST_TOKEN)} |",
        f"| none is sent | {MOST_STREAMS_EACH} at a time, {MOST_STREAMS} of a web process",
        f"of a web process, {span(STREAM_S, 'minute')} each |",
        f"| {mib(LARGEST_DOCUMENT)}, {count(MOST_QUEUES)} queues, {count(MOST_VALUES)} values, {DEEPEST} levels;",
        f"of YAML that libyaml does not read {kib(LONGEST_ODD)}, {count(MOST_MERGED)} merges |",
        f"| {count(LONGEST_EXPRESSION)} characters, of names of {LONGEST_TEXT}; {MOST_RULES} rules,",
        f"{count(MOST_NAMES)} names | linear in both (RE2), {mib(_MOST_MEMORY)} of memory |",
        f"| {PASSES_OF_A_FORECAST} rounds | `FORECAST_WORK_S` |",
        f"| {MOST_SIDES} sides | one at a time, in a worker of its own, {span(COMPARISON_S, 'minute')} |",
        f"| {count(LONGEST_KUBECONFIG)} characters; of YAML that libyaml does not read {kib(LONGEST_ODD)} |",
        f"| the same, {MOST_KUBECONFIGS} of them; output of its program {mb(LARGEST_OF_A_PROGRAM)} |",
        f"the program ends after {span(PROGRAM_S, 'second')} |",
        f"| pages of {LARGEST_PAGE}, decisions of {spelled(LONGEST_HISTORY, 'year')}, queries by indexes |",
        f"| {mib(LARGEST_PAGE_OF_A_LIST)} a page of a list, {count(MOST_PAGES)} pages, {mib(LONGEST_LINE)} an object;",
        f"| the API server's errors and headers | the same | {mib(LARGEST_FAILURE)} |",
        f"waits of {spelled(_LONGEST_WAIT_S)} at most |",
        f"| {mib(LARGEST_OF_YUNIKORN)}; {count(LONGEST_WORDS)} characters of a reason | {every(QUIET_EVERY_S)},",
        f"every {word(EVENTS_EVERY_S)} while anything happens |",
        f"| as other objects; {count(LONGEST_WORDS)} characters of a reason |",
        f"| {PENDING_KEPT} pending workloads are kept",
        f"| {LONGEST_REASON} characters | the Lease is read every {spelled(LEASE_READ_S)} |",
        f"that is seen within {spelled(COPY_EVERY)}",
        f"| the demo | {mb(LARGEST_OF_THE_SIMULATOR)} | {span(SIMULATOR_S, 'second')} |",
        f"| {mib(LARGEST_OF_A_PROVIDER)}, unpacked; {MOST_GROUPS} groups of a person | {span(PROVIDER_S, 'second')},",
    ),
    "docs/what-if.md": (f"up to {mb(LARGEST_SNAPSHOT)}",),
}
"""Document -> what it says, as far as that follows from constants."""


@cache
def squeezed(document: str) -> str:
    """Return the text of a document with one blank for each line break, as sentences run over lines."""
    return re.sub(r"\s+", " ", (BASE / document).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("document", "sentence"), [(document, sentence) for document, each in SENTENCES.items() for sentence in each]
)
def test_the_document_has_the_constants_of_the_code(document: str, sentence: str) -> None:
    """The document has the sentence with the number that the code has now."""
    assert sentence in squeezed(document)
