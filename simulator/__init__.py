"""Simulates a small Kubernetes cluster: API, scheduler, kubelets and the controllers that preemption involves.

Everything runs on one event loop. The tests of its API (tests/simulator/test_api_*) run on a real control plane as
well, and any difference is a fault here. What is left out, and why:

- accounts and RBAC: whoever has the token may do everything; rights are tested on the real control plane alone;
- service accounts, and the volume of their token in every pod: no program runs that would use it;
- most validation of fields: what schedulers, budgets, quotas and this product read is checked (``validation``), the
  rest kept as given;
- volumes: a claim is bound to the volume that it names; none is chosen or provisioned for it, nor kept while a pod
  uses it;
- groups of pods: their finalizer, their immutable fields, topology and CompositePodGroups; members whose preemption
  policies differ;
- scoring plugins of the scheduler: the best node is the one with the most free capacity; preferences of pods are
  ignored, and a claim that waits for its first consumer is never bound;
- delays: deletion of dependents and contents, quotas and budgets follow at once, bookmarks come at once and often; a
  real API server takes its time;
- the past: a version from an earlier run of the server is expired (410), where an API server's storage never goes back;
- eviction by taints: NoExecute keeps pods away and ends none that runs already;
- reverting conditions: DisruptionTarget stays on a pod that was not deleted after all.
"""
