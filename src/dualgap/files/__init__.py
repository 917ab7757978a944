"""Data in, models out: arrays and plain dictionaries to and from files. Knows nothing of estimators."""
