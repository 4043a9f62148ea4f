"""The command line of the REST API: ``scheduler-admin``, or ``python -m scheduler_admin_client``.

It is a distribution of its own, which needs click and urllib3 alone, and runs on Python 3.9 and later.
"""

__version__ = "0.2.0"
"""The version of the whole project; pyproject.toml beside this file takes it from here."""
