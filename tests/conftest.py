"""Random tests draw the same cases every time; HYPOTHESIS_PROFILE=random draws new ones and says how to repeat them."""

import os
import signal

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("random", derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# A suite started in the background of a shell inherits a Ctrl-C that is ignored; so would the programs it sends one to.
signal.signal(signal.SIGINT, signal.default_int_handler)
