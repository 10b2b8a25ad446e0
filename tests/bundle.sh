#!/usr/bin/env bash
# bundle.sh FOLDER: what make gpu-bundle made, on a machine that has nothing else: a root with the
# bundle, the C library's own files (loader, libc, libm, and what of it older programs name) and
# /proc, by which the library finds its module. There is no device, so every program ends well and
# says why it did nothing: first without cuBLAS, which the module lacks, then with an empty one, so
# that the module is opened and finds no driver.
set -u
cd "$(dirname "$0")/.." || exit 2
bundle=${1:?}
[ -d "$bundle" ] || { echo "skip no bundle: make gpu-bundle, with nvcc"; exit 0; }
root=$(mktemp -d) || exit 2
trap 'rm -rf "$root"' EXIT
into() { # PROGRAM...: in a mount namespace of its own, where /proc can be bound
    local -x LD_LIBRARY_PATH=/.gpu/libs
    local mine=-m
    [ "$(id -u)" = 0 ] || mine=-rm
    # shellcheck disable=SC2016 # expanded by that shell
    unshare $mine sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}
bad=0

size=$(du -sm --apparent-size "$bundle" | cut -f1)
[ "$size" -lt 50 ] || { bad=1 && echo -n "not "; }
echo "ok the bundle has $size MB"

loader=$(ldd "$bundle/check_gpu" | sed -n 's|^[[:space:]]*\(/[^ ]*ld-linux[^ ]*\).*|\1|p')
mkdir -p "$root${loader%/*}" "$root/lib" "$root/tmp" "$root/proc"
cp -L "$loader" "$root$loader"
for name in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0; do
    cp -L "$(${CC:-cc} -print-file-name="$name")" "$root/lib/"
done
cp -r "$bundle" "$root/.gpu"
if ! into /.gpu/sqrt_all >/dev/null 2>"$root/tmp/said" &&
    grep -qiE 'not permitted|denied|unshare' "$root/tmp/said"; then
    echo "skip no root of its own for the bundle is permitted here"
    exit $bad
fi

ends_well() { # PROGRAM PART-OF-THE-MESSAGE
    local said
    if said=$(into "/.gpu/$1" /tmp/b.csv 2>&1) && grep -q "^$1: skipped, .*$2" <<<"$said"; then
        echo "ok $1 says: $said"
    else
        bad=1
        echo "not ok $1: $said"
    fi
}
for program in check_gpu bench_gpu; do ends_well "$program" libcublas; done
ends_well sqrt_all "no CUDA device can be used"
module=$bundle/certreg-0/libcertreg_cuda.so
blas=$(readelf -d "$module" | sed -n 's/.*\[\(libcublas\.so[^]]*\)\]/\1/p')
nm -D --undefined-only "$module" |
    sed -n 's/.* \(cublas[A-Za-z0-9_]*\).*/int \1(void); int \1(void) { return 1; }/p' \
        >"$root/tmp/blas.c"
${CC:-cc} -shared -fPIC -Wl,--default-symver -Wl,-soname,"$blas" "$root/tmp/blas.c" \
    -o "$root/lib/$blas" || exit 2
for program in check_gpu bench_gpu; do ends_well "$program" "no CUDA device can be used"; done
exit $bad
