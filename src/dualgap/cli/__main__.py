"""``python -m dualgap.cli``."""

from dualgap.cli import program

program()
