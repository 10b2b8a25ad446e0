"""Draws the figures of the guide from runs of the library.

    make figures              all of them, with MNIST, into docs/figures: 4 minutes on two cores
    QUICK=1 make figures      in small, into lib/reproduce-quick/figures
    make figures PARTS=digit  one of them

Each part is a module with two kinds of functions: found(settings) runs the library, and those in
DRAWINGS turn what was found into figures. Digits, networks, methods and what is kept between two
runs are those of `make reproduce`, and so are the environment variables (reproduce/settings.py).
FIGURES_OUT is another folder for the figures."""

import reproduce  # noqa: F401 - first, since it chooses how NumPy uses processors
