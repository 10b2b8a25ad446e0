"""The option --denoise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arguments import Frame, Model
from ..denoise import Denoised, remark_on_examples
from .failure import Failure
from .files import Destination, read_rows

if TYPE_CHECKING:
    from .commands import CommandInputs

SAVED = ".denoiser"  # files of --keep-denoiser


def denoised(work: CommandInputs, model: Model) -> Model:
    """The model behind the denoiser of --denoise; unchanged without this option."""
    given = work.given
    if not given.denoise:
        return model
    kept = Destination(given.keep_denoiser, (SAVED,)) if given.keep_denoiser else None
    with work.failures():
        made = _made(work, model)
    facts = f"{made.components} directions, {made.error:.3g} of the noise is left"
    if kept:
        kept.write(made.save)
    elif not is_saved(given.denoise):
        facts += "; --keep-denoiser FILE keeps it, to serve with it"
    work.remark(f"denoiser {made.digest}: {facts}")
    for known in remark_on_examples(made, work.X):
        work.remark(known)
    return made


def is_saved(name: str) -> bool:
    """Returns True for a file of --keep-denoiser, by its name."""
    return name.lower().endswith(SAVED)


def _made(work: CommandInputs, model: Model) -> Denoised:
    name = work.given.denoise
    if not is_saved(name):
        scale = 1 if work.scale is None else work.scale
        return Denoised(model, examples(work), work.given.sigma, scale)
    try:
        return Denoised.load(name, model)
    except OSError as error:
        raise Failure(f"{name} cannot be read: {error.strerror or error}") from None


def examples(work: CommandInputs) -> Frame:
    """The examples for a denoiser."""
    X, names, _ = read_rows(work.given.denoise)
    return work.taken(X, names, work.given.denoise)
