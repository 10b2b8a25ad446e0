"""executors_program.py dask|mpi FILE: certifies rows by an executor, so slowly that it
can be killed on the way. test_executors.py starts it."""

import contextlib
import os
import sys
import time

import numpy as np

from certreg import Question, certify_rows

X = np.random.default_rng(5).normal(size=(200, 3)).astype(np.float32)
ASKED = [Question(0.5), Question(0.5, statistic="huber", huber_width=0.2)]
HOW = dict(samples=300, seed=7, progress=False)


def model(x):
    return x[:, 0] + x[:, 1] * x[:, 2]


def slow(x):
    time.sleep(0.02)
    return model(x)


def ends_at_row_7(x):
    if (x == X[7]).all(axis=1).any():  # sample 0 has no noise
        os._exit(9)
    return model(x)


TASK, SLOW = (model, X, [0.25, 0.5], ASKED), (slow, X, [0.25, 0.5], ASKED)


@contextlib.contextmanager
def dask_client():
    """Two processes on this machine."""
    import dask
    from distributed import Client, LocalCluster

    dask.config.set({"distributed.comm.timeouts.connect": "60s"})
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        yield client


@contextlib.contextmanager
def executor(how):
    if how == "dask":
        with dask_client() as client, client.get_executor() as made:
            yield made
    else:
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as made:
            yield made


if __name__ == "__main__":
    with executor(sys.argv[1]) as made:
        certify_rows(*SLOW, **HOW, jobs=made, resume=sys.argv[2])
