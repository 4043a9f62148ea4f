"""What others hear of trees: apps above this one say what speaks against a change, and follow it."""

from django.dispatch import Signal

publishing = Signal()
"""Before a tree is put in force in place of another: ``hierarchy``, ``tree``, ``allow_orphans``. A receiver that raises
stops it."""

published = Signal()
"""Once a tree is in force, in the same transaction: ``hierarchy``, ``tree``."""
