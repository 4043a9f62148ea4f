"""The page Fences: who may preempt whom, drawn and told.

From the tree to the picture: ``folding`` says which queues are drawn, ``layout`` where, ``routes`` how arrows run
between them, ``drawing`` and ``arrows`` turn all of it into shapes. ``told`` and ``pairs`` say the same in words, and
``page`` puts it together.
"""
