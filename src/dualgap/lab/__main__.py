"""``python -m dualgap.lab`` is ``dualgap lab``."""

import sys

from dualgap.lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
