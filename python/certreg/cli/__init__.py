"""The command `certreg`. It uses certify_rows, models, check and plots."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import traceback
from types import FrameType
from typing import Callable, Sequence

from .failure import DONE, FILE, INTERRUPTED, MODEL, OTHER, TERMINATED, Failure, described
from .parser import parsed
from .streams import print_error, print_result, warn
from .values import converted


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command, and returns the exit status."""
    given: argparse.Namespace | None = None
    traceback_wanted = False
    with _Signals() as signals:
        try:
            given = parsed(sys.argv[1:] if argv is None else argv)
            traceback_wanted = given.traceback
            status = _run(given)
            if sys.stdout is not None:
                print_result("")  # flushes output of the model
            return status
        except Failure as failure:
            _explain(failure, traceback_wanted)
            return signals.status if failure.status == INTERRUPTED else failure.status
        except BrokenPipeError:
            return FILE
        except OSError as error:
            _explain(error, traceback_wanted)
            return FILE
        except KeyboardInterrupt:
            warn("interrupted")
            return signals.status
        except SystemExit as end:
            if given is None:  # after --help, or a mistake in the options
                return int(end.code or 0)
            _explain(Failure(f"the model failed: {described(end)}"), traceback_wanted)
            return MODEL
        except Exception as error:
            _explain(error, traceback_wanted)
            return OTHER


def _run(given: argparse.Namespace) -> int:
    # imported here, so that --help works without NumPy
    from . import attack, commands, interval, diagnostics, scale, training

    if given.version:
        from ..constants import __version__

        print_result(f"certreg {__version__}\n")
        return DONE
    known: dict[str, Callable[[argparse.Namespace], int]] = {
        "attack": attack.attack,
        "check": diagnostics.check,
        "info": diagnostics.info,
        "scale": scale.run,
        "interval": interval.run,
        "denoise train": training.train,
        "denoise join": training.join,
    }
    return known.get(given.command, commands.run)(converted(given))


def _explain(error: Exception, with_traceback: bool) -> None:
    if with_traceback:
        with contextlib.suppress(Failure, OSError):
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            print_error("".join(lines))
    warn(str(error) if isinstance(error, Failure) else described(error))


Handler = Callable[[int, FrameType | None], object] | int | None


class _Signals:
    """SIGTERM interrupts a command as Ctrl-C does, which is delayed while the library computes. If
    Ctrl-C is ignored, as in background jobs of a shell, it stays ignored."""

    def __init__(self) -> None:
        self.status = INTERRUPTED
        self.before: dict[int, Handler] = {}

    def __enter__(self) -> "_Signals":
        if threading.current_thread() is threading.main_thread():
            ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
            for number, handler in (
                (signal.SIGTERM, self._terminate),
                (signal.SIGINT, self._interrupt_if_terminated if ignored else self._interrupt),
            ):
                self.before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _terminate(self, *_: object) -> None:
        self.status = TERMINATED
        os.kill(os.getpid(), signal.SIGINT)

    def _interrupt(self, *_: object) -> None:
        raise KeyboardInterrupt

    def _interrupt_if_terminated(self, *_: object) -> None:
        if self.status == TERMINATED:
            raise KeyboardInterrupt
