"""What a place in an address may hold."""

from django.urls import register_converter
from django.urls.converters import StringConverter

OBJECT = "object"


class ObjectConverter(StringConverter):
    """The name of an object of Kubernetes, which has neither spaces nor what no database takes."""

    regex = r"[^/\s\x00]+"


register_converter(ObjectConverter, OBJECT)
