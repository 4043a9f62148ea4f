"""Policy ``deserved`` for groups of pods: gangs that preempt as a whole, and running groups that go or stay as a whole.

``decision`` holds the stages in their order, ``terms`` on which terms each member of a gang may preempt, ``units`` what
may be evicted together, and ``allowances`` how much of it. ``member_victims`` chooses on one node. ``node_options``
orders the nodes for one member by what ``queue_bounds`` and ``costs_at_once`` find on all of them. ``search`` chooses
nodes for all members, and ``trace`` is the record of it.
"""
