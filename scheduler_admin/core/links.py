"""Addresses of pages for whoever is not on the site: in notifications, Events and answers of the REST API."""

from django.conf import settings
from django.utils.http import urlencode


def pod_url(cluster: str, namespace: str, name: str) -> str:
    """The page of a pod."""
    return f"{settings.SITE_URL}/pods/{cluster}/{namespace}/{name}/"


def application_url(namespace: str, application: str) -> str:
    """The list of an application's preempted pods."""
    query = urlencode({"q": application, "namespace": namespace, "show": "preempted"})
    return f"{settings.SITE_URL}/pods/?{query}"


def decision_url(cluster: str, number: int) -> str:
    """The page of a decision; it leads tenants to their own pod."""
    return f"{settings.SITE_URL}/clusters/{cluster}/decisions/{number}/"


def history_url(cluster: str) -> str:
    """The page with the decisions of a cluster."""
    return f"{settings.SITE_URL}/clusters/{cluster}/history/"


def revision_url(cluster: str, number: int) -> str:
    """The page of a revision of a cluster's tree."""
    return f"{settings.SITE_URL}/clusters/{cluster}/revisions/{number}/"


def connection_url(cluster: str) -> str:
    """The page on how the site signs in to a cluster."""
    return f"{settings.SITE_URL}/clusters/{cluster}/connection/"


def queue_url(cluster: str, path: str) -> str:
    """The page of a queue."""
    return f"{settings.SITE_URL}/clusters/{cluster}/queues/{path}/"
