"""A site with its tree, as the tests of the command line have it."""

from tests.client.conftest import _noon, _plain_http, queues, run, site  # noqa: F401
