#!/usr/bin/env bash
# first.sh FOLDER [SECONDS]: what decides whether the CUDA backend works and how fast it is, on a
# machine with a device and nothing of ours but this bundle; 240 seconds are enough for a lent one.
# second.sh has the rest.
set -u
# shellcheck source=tests/gpu/steps.sh
. "$(dirname "$0")/steps.sh"
step driver 10 nvidia-smi
step libraries 10 ldd "$here/certreg-0/libcertreg_cuda.so"
step check_gpu 75 "$here/check_gpu"
step sqrt_all 15 "$here/sqrt_all"
step bench_gpu 50 "$here/bench_gpu" "$out/gpu.csv"
step torch_peer 80 python3 "$here/torch_peer.py" "$out/gpu.csv"
finish
