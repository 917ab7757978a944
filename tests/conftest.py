"""Random tests draw the same cases every time; HYPOTHESIS_PROFILE=random draws new ones and says how to repeat them."""

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("random", derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
