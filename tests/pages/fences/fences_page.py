"""The page Fences read back: what its map and its tables say about every queue."""

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
from django.test import Client

from engine.model.queue_tree import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Queue, Revision
from scheduler_admin.queues.services.chain import digest_of
from scheduler_admin.queues.services.hierarchies import row_of
from tests.builders import queue, tree

PAGE = "/clusters/demo/fences/"
TRAINING, QUEUE_B = "root.tenant-1.training", "root.tenant-1.queue-b"

MANY_QUEUES = tree({f"t{n}.q{m}": queue("1") for n in range(10) for m in range(50)})

SVG = "{http://www.w3.org/2000/svg}"


def published(tree: QueueTree, name: str = "demo", **terms: Any) -> Cluster:
    """A cluster of a tree, without anything in it; ``terms``: policy, dialect and parameters."""
    hierarchy = Hierarchy.objects.create(name=name)
    document = msgspec.json.encode({"form": 1, "queues": [tree[path] for path in tree.walk()]}).decode()
    revision = Revision(hierarchy=hierarchy, number=1, document=document, author_name="ada", reason="test", **terms)
    revision.digest = digest_of(revision)
    revision.save()
    parents: dict[str, Queue] = {}
    for position, path in enumerate(tree.walk()):
        queue = tree[path]
        parents[path] = row_of(revision, tree, path, position)
        parents[path].parent = parents.get(queue.parent or "")
        parents[path].save()
    hierarchy.current = revision
    hierarchy.save()
    return Cluster.objects.create(name=name, hierarchy=hierarchy, mode="enforce")


def html_of(client: Client, queue: str = "", **query: Any) -> str:
    """The page, seen from a queue."""
    answer = client.get("/clusters/demo/fences/", {"queue": queue, **query} if queue else query)
    assert answer.status_code == 200
    return answer.content.decode()


def map_of(html: str) -> ET.Element:
    """The drawing of the page."""
    return ET.fromstring(html[html.index('<svg class="map"') : html.index("</svg>", html.index('class="map"')) + 6])


def boxes(html: str) -> dict[str, tuple[bool, bool]]:
    """Path of every single box -> whether it is drawn as reached, and as reaching the chosen queue."""
    found = {}
    for link in map_of(html).iter(f"{SVG}a"):
        looks = {rect.get("class") for rect in link.iter(f"{SVG}rect")}
        if looks - {"grip"}:
            found[link.findtext(f"{SVG}title", "").partition(":")[0]] = ("lit" in looks, "hatched" in looks)
    return found


def words(html: str) -> dict[str, tuple[bool, bool]]:
    """Path of every leaf in "The map as a table" but the chosen one -> whether the chosen one may, and it may."""
    found = {}
    table = html[html.index('id="words-scroll"') : html.index("</table>", html.index('id="words-scroll"'))]
    for row in re.findall(r"<tr[ >].*?</tr>", table.split("<tbody>")[1], re.DOTALL):
        path = re.search(r"queue=([^\"&]+)", row)
        states = re.findall(r'class="st (ok|shut|none)"', row)
        assert path is not None
        if "none" not in states:
            found[unescape(path[1])] = (states[0] == "ok", states[1] == "ok")
    return found


def matrix(html: str, leaves: tuple[str, ...]) -> dict[tuple[str, str], bool]:
    """Asker and victim -> whether "Queue pairs" allows it."""
    table = html[html.index('id="pairs-scroll"') : html.index("</table>", html.index('id="pairs-scroll"'))]
    found = {}
    lines = re.findall(r"<tr[ >].*?</tr>", table.split("<tbody>")[1], re.DOTALL)
    for asker, line in zip(leaves, lines, strict=True):
        cells = re.findall(r"<td( class=\"[a-z]+\")?>", line)
        found |= {(asker, victim): not kind for victim, kind in zip(leaves, cells, strict=True)}
    return found


def arrows(html: str) -> dict[str, str]:
    """What every arrow says of itself -> its classes."""
    return {
        group.findtext(f"{SVG}title", ""): group.get("class", "")
        for group in map_of(html).iter(f"{SVG}g")
        if "arrow" in group.get("class", "")
    }


def counts(html: str) -> list[str]:
    """The counts written at arrows."""
    return [text.text or "" for text in map_of(html).iter(f"{SVG}text") if "count" in text.get("class", "")]


def lead(html: str) -> str:
    """The sentence above the map."""
    said = re.search(r'<p class="lead">(.*?)</p>', html, re.DOTALL)
    assert said is not None
    return " ".join(re.sub(r"<[^>]+>", "", said[1]).split())


def told(html: str) -> str:
    """All that the page says of its own, without its address, which says what was asked."""
    return re.sub(r' hx-get="[^"]*"', "", html.split("<main")[1].split("</main>", maxsplit=1)[0])


def state(html: str, path: str = TRAINING) -> str:
    """What the box of a leaf says of itself."""
    (said,) = re.findall(rf"<title>{re.escape(path)}: ([^<]*)</title>", html)
    return str(said)


def notes(html: str) -> str:
    """What stands below the map."""
    return re.sub(r"<[^>]+>", "", html.split('class="lines notes"')[1].split("</ul>", maxsplit=1)[0])
