"""Tests: each states a promise in its docstring."""
