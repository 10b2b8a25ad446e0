"""Exit status and messages of failures."""

from __future__ import annotations

from ..display import printable

# The exit status; the epilog of the parser explains it.
DONE, FOUND, USAGE, MODEL, FILE, OTHER, SHORT = range(7)
INTERRUPTED, TERMINATED = 130, 143
RAISED = (Exception, SystemExit)  # of a model: its sys.exit() must not end a command


class Failure(Exception):
    """A failure of a command: a message for the user, and the exit status."""

    def __init__(self, message: object, status: int = USAGE) -> None:
        super().__init__(one_line(message))
        self.status = status


class Mixed(Failure):
    """A table holds texts or dates too, which a model in Python may take."""


def described(error: BaseException) -> str:
    """An exception of other code as part of a message, with its class."""
    return one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def one_line(text: object) -> str:
    """A message of other code as part of a message, without line ends."""
    return " ".join(printable(str(text)).split())
