"""What the figures have in common."""

import math

# Colours of Okabe and Ito, which people with any kind of colour vision tell apart.
GREY = "#666666"
MIDDLE = "#767676"  # seen on white and on black: stays as it is on dark pages
BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILION = "#E69F00", "#D55E00"


def certified(radius: float) -> str:
    """A radius that is proved, rounded down."""
    return f"{math.floor(1000 * radius) / 1000:.3f}"


def broken(radius: float) -> str:
    """A radius that is broken, rounded up."""
    return f"{math.ceil(1000 * radius) / 1000:.3f}"
