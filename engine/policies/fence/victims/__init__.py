"""Which candidates on each node policy ``fence`` evicts, and what that costs.

``constraints`` holds what keeps the pending pod out, ``preemptable_amounts`` how much may be evicted together,
``victim_selection`` the choice on all nodes, ``other_sets`` what is tried where that fails, ``node_costs`` what the
victims cost, and ``known_nodes`` what need not be selected again for pending pods that request the same.
"""
