"""Policy ``deserved`` for groups of pods: gangs that preempt as a whole, and running groups that go or stay as a whole.

``decision`` holds the stages in their order, ``terms`` on which terms each member of a gang may preempt, ``units`` what
may be evicted together, ``allowances`` how much of it, ``member_victims`` the choice on one node, ``search`` the choice
of nodes for all members, and ``trace`` the record of it.
"""
