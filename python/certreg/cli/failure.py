"""Exit status and sentences of failures."""

from __future__ import annotations

from typing import Any

# The exit status; the epilog of the parser explains it.
DONE, FOUND, USAGE, MODEL, FILE, OTHER, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 5, 130, 143
RAISED = (Exception, SystemExit)  # what a model may raise; sys.exit() there must not end a command


class Failure(Exception):
    """A failure of a command: a sentence for the user, and the exit status."""

    def __init__(self, sentence: Any, status: int = USAGE) -> None:
        super().__init__(one_line(sentence))
        self.status = status


class Mixed(Failure):
    """A table holds other things than numbers, which a model in Python may take."""


def described(error: BaseException) -> str:
    """An exception of other code as part of a sentence, with its class."""
    return one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def one_line(text: Any) -> str:
    """A message of other code as part of a sentence, without line ends."""
    return " ".join(str(text).split())
