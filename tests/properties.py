"""How many examples a property is tried with: fewer for a quick look, more in a long suite."""

from typing import Any

from hypothesis import settings

_DEFAULT = 100
"""The examples of hypothesis' own default, which the profiles in tests/conftest.py are parts and multiples of."""


def examples(many: int, **options: Any) -> settings:
    """Return settings for ``many`` examples: three in ten in ``make test``, a tenth in ``make quick``.

    ``options`` are hypothesis' own.
    """
    share = settings.get_profile(settings.get_current_profile_name()).max_examples / _DEFAULT
    return settings(max_examples=max(1, round(many * share)), **options)
