"""Look at the running demo from outside, as a person would: sign in, open a page."""

import re
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

from scheduler_admin.demo.seed import Login

_HIDDEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_OK = 200


class Visitor:
    """A browser without a screen."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def sign_in(self, login: Login) -> None:
        """Fill in the sign-in form. Raises OSError when the site can't be reached."""
        found = _HIDDEN.search(self.read("/sign-in/"))
        values = {
            "username": login.name,
            "password": login.password,
            "csrfmiddlewaretoken": found.group(1) if found else "",
        }
        request = urllib.request.Request(  # noqa: S310 - our own address
            f"{self._address}/sign-in/",
            data=urllib.parse.urlencode(values).encode(),
            headers={"Referer": f"{self._address}/sign-in/"},
        )
        with self._opener.open(request, timeout=10) as answer:
            answer.read()

    def read(self, path: str) -> str:
        """A page's text. Raises OSError for any answer but 200."""
        with self._opener.open(f"{self._address}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    def can_read(self, path: str) -> bool:
        """Whether a page answers."""
        try:
            self.read(path)
        except OSError:
            return False
        return True
