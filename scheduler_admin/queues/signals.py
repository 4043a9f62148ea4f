"""What others hear of trees: apps above this one say what speaks against a change, and follow it."""

from django.dispatch import Signal

consulting = Signal()
"""Who else reads the trees of a hierarchy: ``hierarchy``. Receivers return pairs of a document's format and its text as
it is in a cluster."""

publishing = Signal()
"""Before a tree is put in force in place of another: ``hierarchy``, ``tree``, ``allow_orphans``. A receiver that raises
stops it."""

published = Signal()
"""Once a tree is in force, in the same transaction: ``hierarchy``, ``tree``."""
