"""Compiles the message catalogs before the package is built; everything else is in pyproject.toml."""

from setuptools import setup
from setuptools.command.build import build

build.sub_commands = [("compile_catalog", None), *build.sub_commands]
setup(script_name="setup.py")  # so that it is known, and left out of the package that it lies in
