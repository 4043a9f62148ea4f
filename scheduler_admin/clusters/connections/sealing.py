"""Secrets as they are stored: encrypted, and whole or not at all (Fernet). The keys come from CREDENTIALS_KEY.

The first key seals; each opens, so that a new one can be put in front of the former and everything sealed anew with it.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from engine.cluster.errors import SettingsError
from engine.model.message import gettext_noop


def can_seal() -> bool:
    """Whether there is a key."""
    return bool(settings.CREDENTIALS_KEYS)


@sensitive_variables()
def seal(secret: str) -> str:
    """The secret, for nobody to read without a key. Raises SettingsError where there is none."""
    return _keys().encrypt(secret.encode()).decode()


@sensitive_variables()
def unseal(sealed: str, *, within_s: int | None = None) -> str:
    """The secret again. Raises SettingsError if no key opens it, or it is older than ``within_s`` seconds."""
    try:
        return _keys().decrypt(sealed.encode(), ttl=within_s).decode()
    except InvalidToken:
        if within_s is not None:
            raise SettingsError(gettext_noop("The form has expired. Enter the credentials again.")) from None
        raise SettingsError(
            gettext_noop("The stored credentials can't be decrypted. No key in CREDENTIALS_KEY matches them.")
        ) from None


def reseal(sealed: str) -> str:
    """The same secret, sealed with the first key. Raises SettingsError if no key opens it."""
    return seal(unseal(sealed))


def _keys() -> MultiFernet:
    if not can_seal():
        raise SettingsError(
            gettext_noop("Credentials can only be stored encrypted. Set CREDENTIALS_KEY for all processes first.")
        )
    return MultiFernet([Fernet(key) for key in settings.CREDENTIALS_KEYS])
