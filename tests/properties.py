"""How many examples a property is tried with: fewer for a quick look, more in a long suite."""

from typing import Any

from hypothesis import settings

_USUAL = 100
"""The examples of hypothesis' own default, which the profiles in tests/conftest.py are multiples of."""


def examples(usual: int, **options: Any) -> settings:
    """Return settings for ``usual`` examples in ``make test``: a tenth of them under the profile ``quick``, and so on.

    ``options`` are hypothesis' own.
    """
    share = settings.get_profile(settings.get_current_profile_name()).max_examples / _USUAL
    return settings(max_examples=max(1, round(usual * share)), **options)
