"""`manage.py demo`: the whole product on one machine, with a simulated cluster."""
