"""The thirteen experiments, one file each."""
