"""What an answer says, and the names in it that its reader may not see."""

import re
from html import escape
from io import BytesIO
from urllib.parse import quote
from zipfile import ZipFile

from django.http import HttpResponse

from tests.grid.sides import MAY_SEE, SECRET

CANARIES = {SECRET}.union(*MAY_SEE.values())


def said(response: HttpResponse, *, instead_of: str = "", put: str = "") -> str:
    """All of it: status, headers, cookies, body. The address asked for, or its query, is put as another one."""
    text = f"{response.status_code}\n{response.headers}\n{response.cookies}\n{_body(response)}"
    for was, be in ((instead_of, put), (instead_of.partition("?")[2], put.partition("?")[2])):
        for write in (quote, escape, str):
            text = text.replace(write(was), write(be)) if was else text
    return text


def _body(response: HttpResponse) -> str:
    """As text; of a zip all that is in it."""
    if response.get("Content-Type") != "application/zip" or not response.getvalue():
        return response.getvalue().decode()
    with ZipFile(BytesIO(response.getvalue())) as file:
        return "\n".join(f"{name}\n{file.read(name).decode()}" for name in file.namelist())


def foreign(response: HttpResponse, person: str, address: str) -> list[str]:
    """The words of an answer with a canary that the person may not see; the address is what they wrote themselves."""
    text = said(response, instead_of=address)
    found = [canary for canary in CANARIES - MAY_SEE[person] if canary in text]
    return sorted({word for canary in found for word in re.findall(rf"[\w./-]*{re.escape(canary)}[\w./-]*", text)})
