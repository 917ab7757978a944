"""``python -m dualgap``: the program."""

from dualgap.cli import program

program()
