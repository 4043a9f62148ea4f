"""The cluster and the watch of the worker's tests."""

from tests.worker.conftest import cluster, watch

__all__ = ["cluster", "watch"]
