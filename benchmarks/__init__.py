"""Races that anyone can run: `python -m benchmarks run | table | plot` (see __main__.py)."""
