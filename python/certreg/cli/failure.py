"""How the command line ends."""

from __future__ import annotations

from typing import Any

# Exit status, which the parser's epilog explains.
DONE, FOUND, USAGE, MODEL, FILE, OTHER, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 5, 130, 143


class Failure(Exception):
    """A sentence for the user, and the exit status."""

    def __init__(self, sentence: Any, status: int = USAGE) -> None:
        super().__init__(one_line(sentence))
        self.status = status


def described(error: BaseException) -> str:
    """An exception of someone else's code as part of a sentence."""
    return one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def one_line(text: Any) -> str:
    """A message of someone else's as part of a sentence."""
    return " ".join(str(text).split())
