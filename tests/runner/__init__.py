"""How the tests are run: the parts of ``make test``, what a change can break, the long suites, and what they take."""
