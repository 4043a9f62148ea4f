"""Clients that code generators make from the OpenAPI document, used on a running site."""
