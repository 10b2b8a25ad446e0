#!/usr/bin/env bash
# second.sh FOLDER [SECONDS]: memory and races under compute-sanitizer, the kernels' figures by ncu,
# and the example in PyTorch; 240 seconds are enough for a lent machine.
set -u
# shellcheck source=tests/gpu/steps.sh
. "$(dirname "$0")/steps.sh"
export CK_RUN_CASE=short # of check_gpu: every kernel once
for tool in memcheck synccheck initcheck racecheck; do # the last takes half a minute
    share=20
    [ $tool != racecheck ] || share=80
    step "$tool" "$share" compute-sanitizer --error-exitcode 9 --tool "$tool" "$here/check_gpu"
done
# The third launch of each kernel, with the device's clocks as they are.
for kernel in draw replay project direction; do
    step "ncu $kernel" 15 ncu --clock-control none --set full -k "regex:${kernel}_kernel" \
        -s 2 -c 1 --kill yes "$here/bench_gpu"
done
step torch_model 15 python3 "$here/torch_model.py"
finish
