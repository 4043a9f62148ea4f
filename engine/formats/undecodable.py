"""What is raised for bytes, or a text, that are not the JSON which was asked for."""

import msgspec

UNDECODABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""Beside what it calls an error, msgspec raises UnicodeError for half a character, RecursionError for much depth."""
