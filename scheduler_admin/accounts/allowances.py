"""How much somebody may upload within an hour, and let a web process work within a minute."""

from django.conf import settings
from django.http import HttpRequest

from scheduler_admin.accounts.models import User
from scheduler_admin.core.counters import UPLOADS, WORK

_MB = 1_000_000
QUICK_MS = 20
"""What takes less need not be noted: requests are counted as well, by REST."""


def announced(request: HttpRequest) -> int:
    """Return how many bytes a request says that it has: nobody reads more of it, and none where it does not say."""
    said = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(said) if said.isascii() and said.isdigit() else 0


def wait_to_upload(user: User, size: int) -> int:
    """Count an upload of so many bytes; return after how many seconds there is room for it, 0 where there is now."""
    if not settings.UPLOAD_MB_AN_HOUR:
        return 0
    count = UPLOADS.add(f"user:{user.pk}", size)
    return count.ends_in_s if count and count.used > settings.UPLOAD_MB_AN_HOUR * _MB else 0


def wait_to_work(who: str) -> int:
    """Return after how many seconds a request of a client (counting.who_is) is looked at, 0 where it is now."""
    if not (settings.WORK_S_A_MINUTE and who):
        return 0
    count = WORK.add(who, 0)
    return count.ends_in_s if count and count.used > settings.WORK_S_A_MINUTE * 1000 else 0


def note_work(who: str, took_ms: int) -> None:
    """Count for how long a client has kept a core busy."""
    if settings.WORK_S_A_MINUTE and who:
        WORK.add(who, took_ms)
