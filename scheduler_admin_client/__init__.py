"""The command line of the REST API: ``scheduler-admin``, or ``python -m scheduler_admin_client``."""
