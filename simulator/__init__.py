"""A small Kubernetes: its API, its scheduler, kubelets and the controllers that preemption meets, on one event loop.

The tests of its API (tests/simulator/test_api_*) run on a real control plane as well, and what differs there is a fault
here. What is left out, and why:

- accounts and RBAC: whoever has the token may do everything; rights are tested on the real control plane alone;
- service accounts, and the volume of their token in every pod: no program runs that would use it;
- most validation of fields: what schedulers, budgets, quotas and this product read is checked (``validation``), the
  rest kept as given;
- scopes of quotas: all of a namespace's pods are counted;
- volumes: a claim is bound to the one that it names; none is chosen or made for it, nor kept while a pod uses it;
- the scheduler's taste: which of the nodes that take a pod is the best is told by what stays free there alone; what
  pods would merely prefer is passed over, and a claim that waits for its pod is never bound;
- the moment of things: deletion of dependents and contents, quotas and budgets follow at once, bookmarks come at once
  and often; an API server takes its time;
- the past: a version from another life of the server is gone (410), where an API server's storage never goes back;
- eviction by taints: NoExecute keeps pods away and ends none that is there;
- conditions nobody took back: DisruptionTarget stays on a pod that was not deleted after all.
"""
