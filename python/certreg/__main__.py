"""python -m certreg: the command line."""

import sys

from .cli import main

if __name__ == "__main__":  # a process of a pool imports this file too
    sys.exit(main())
