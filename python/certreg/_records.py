"""Outputs of a model in records, and the few of them that identify it."""

from __future__ import annotations

import dataclasses

import numpy as np

OUTPUTS = 8 + 6 * 8  # offset of the number of outputs in a record
_HEADER = 8 + 15 * 8  # bytes before the first range of a record


def recorded(data: bytes) -> np.ndarray:
    """The outputs of all samples of a record, (samples, outputs), with NaN for failed samples.
    docs/stability.md describes the bytes."""
    outputs, _, samples = (
        int.from_bytes(data[at : at + 8], "little") for at in (OUTPUTS, _HEADER, _HEADER + 8)
    )
    return np.frombuffer(data, "<f4", samples * outputs, _HEADER + 16).reshape(samples, outputs)


@dataclasses.dataclass(frozen=True)
class Probe:
    """Outputs of the model near a few rows, (several for each row, columns). They identify the
    model."""

    rows: tuple[int, ...]
    outputs: np.ndarray

    def agrees(self, other: "Probe") -> bool:
        """Returns True if the outputs are equal up to rounding on another machine, relative to the
        size and to the variation of a column."""
        if self.outputs.shape != other.outputs.shape:
            return False
        known = np.where(np.isfinite(self.outputs), self.outputs, 0).astype(np.float64)
        rounding = 1e-6 * np.abs(known).max(0) + 1e-4 * np.ptp(known, 0)
        return bool(np.isclose(self.outputs, other.outputs, 0, rounding, equal_nan=True).all())

    def differs(self) -> str:
        """A text about the probe of another model."""
        return (
            "was made with another model: its outputs for rows "
            f"{', '.join(map(str, self.rows))} differ"
        )


def probe_rows(count: int) -> list[int]:
    """The rows of a probe: the first, the middle and the last one."""
    return sorted({0, count // 2, count - 1})
