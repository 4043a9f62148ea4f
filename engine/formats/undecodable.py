"""The exceptions that are raised for bytes or text that are not the expected JSON."""

import msgspec

UNDECODABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""Besides its own error, msgspec raises UnicodeError for an incomplete character and RecursionError for deep nesting.
"""
