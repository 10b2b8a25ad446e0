"""The example of an episode, and what the package refuses about episodes."""

import runpy
from unittest import mock

import numpy as np
import pytest

from kit import certreg, root

EPISODE = runpy.run_path(str(root / "examples/python/episode.py"))
LOOP = EPISODE["certified"].__globals__


def test_a_run_is_certified_from_few_episodes():
    with mock.patch.dict(LOOP, EPISODES=300):
        radius = EPISODE["certified"](1.6)
    assert 2 < radius < 1.6 * 2.2  # 300 episodes prove 2.15 sigma at most


def test_a_deployed_run_is_the_same_loop():
    assert EPISODE["farthest"](1, EPISODE["deployed"](1.6))[0] < EPISODE["LIMIT"]


def test_a_run_longer_than_its_row_fails():
    sense = EPISODE["simulated"](np.zeros(4 * EPISODE["TICKS"], np.float32), 1.6)
    with mock.patch.dict(LOOP, TICKS=EPISODE["TICKS"] + 1), pytest.raises(IndexError):
        EPISODE["farthest"](1, sense)


def test_a_pole_that_falls_counts_as_failed():
    assert np.isnan(EPISODE["farthest"](3, lambda tick, reading: -reading)).all()


def test_the_gradient_is_refused():
    with pytest.raises(certreg.CertregError, match="GRADIENT"):
        certreg.Estimator(None, 2, 10, constraints="ECGM", flags=certreg.PLAN_EPISODE)
