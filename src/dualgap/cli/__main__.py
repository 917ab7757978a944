"""``python -m dualgap.cli``."""

import sys

from dualgap.cli import main

sys.exit(main())
