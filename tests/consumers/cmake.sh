#!/usr/bin/env bash
# consumers/cmake.sh: programs that find the library by CMake, in the build tree, installed, and
# after the whole prefix has been moved; what is missing is one sentence. Programs that have it as a
# part of their project (CMakeLists.txt).
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
command -v cmake >/dev/null || { echo "skip CMake is not installed (make deps)"; exit 0; }
configure() { # WHAT-FIND_PACKAGE-IS-ASKED TARGETS [LANGUAGE [SOURCE]]
    rm -rf "$tmp/build"
    cmake -S "$root/tests/consumers" -B "$tmp/build" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$prefix" -DLANGUAGE="${3-C}" -DASK="${package:-certreg};$1" \
        -DTARGETS="$2" -DSOURCE="${4:-$root/examples/quickstart.c}" "${more[@]}"
}
more=()
# Programs of CMake have the library's folder in them, so that nothing needs to be set.
works() { # static|shared ARGUMENTS-OF-CONFIGURE...
    local kind=$1
    shift
    configure "$@" && env -u MAKEFLAGS cmake --build "$tmp/build" || return
    local program=$tmp/build/${2/::/-}
    prints_a_radius "$program" || return
    if [ "$kind" = static ]; then is_static "$program"; else ! is_static "$program"; fi
}

refuses() { # SENTENCE ASK
    says "$1" configure "$2" certreg::certreg
}

use_prefix "$root"
tell 'the build tree' works shared 'REQUIRED' certreg::certreg
use_prefix "$tmp/a prefix/usr"
tell 'make install' make_it install
description=$prefix/lib/cmake/certreg/certreg-config-version.cmake
known=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$description" | head -1)
major=${known%%.*} minor=${known%.*}
static="$minor;REQUIRED;COMPONENTS;static"
cpp=$root/tests/consumers/consumer.cpp
works_everywhere() { # NAME
    tell "$1: shared" works shared "$minor;REQUIRED" certreg::certreg
    tell "$1: static" works static "$static" certreg::certreg
    tell "$1: C++ alone" works shared 'REQUIRED' certreg::certreg CXX "$cpp"
    tell "$1: C++ alone, static" works static "$static" certreg::certreg CXX "$cpp"
}
works_everywhere installed
tell 'of several the first is taken' \
    works shared 'REQUIRED;COMPONENTS;shared;static' certreg::certreg
tell 'the other one has its own name' works static 'REQUIRED' 'certreg::static'
tell 'an optional component may be missing' \
    works shared 'REQUIRED;OPTIONAL_COMPONENTS;python' certreg::certreg
another_case() { package=Certreg works "$@"; }
tell 'the package has either case' another_case static "$static" certreg::certreg
missing_case() { package=Certreg refuses "$@"; }
tell 'also where something is missing' \
    missing_case 'lacks a component of the name fortran' 'REQUIRED;COMPONENTS;fortran'
tell 'a project without a language' configure "$minor;REQUIRED" '' NONE
with_blas() { # where make has built it
    configure "$static" certreg::static_blas C "$root/tests/consumers/opens.c" &&
        cmake --build "$tmp/build" && [ "$("$tmp/build/certreg-static_blas" blas)" = '0 ' ]
}
[ ! -e "$prefix/lib/libcertreg_blas.a" ] || tell 'static with OpenBLAS inside' with_blas
tell 'a range of versions' configure "$known...<99;REQUIRED" certreg::certreg

for ask in "$major.99" $((major + 1)).0 "$major.0...<$known" "$major.0;EXACT"; do
    tell "version $ask is refused" refuses "certreg-config.cmake, version: $known" "$ask;REQUIRED"
done
# The same rule in a version file of a later major version.
cp "$description" "$tmp/kept.cmake"
sed -i "s/\"$known/\"7.2.0/; s/STREQUAL \"$major\"/STREQUAL \"7\"/" "$description"
tell 'an older major version is refused' refuses 'version: 7.2.0' '6.9;REQUIRED'
tell 'an older minor version is not' configure '7.1;REQUIRED' certreg::certreg
cp "$tmp/kept.cmake" "$description"
small() { configure "$minor;REQUIRED" '' NONE; }
more=(-DCMAKE_SIZEOF_VOID_P=4)
tell 'programs of 32 bits are refused' says "version: $known (64bit)" small
more=()
tell 'an unknown component is refused' \
    refuses 'lacks a component of the name fortran (there are shared and static): install' \
    'REQUIRED;COMPONENTS;shared;fortran'

# ---- the adapters of engines
engines() { # MODEL [ENGINE]: a program of theirs, with ONNX Runtime where make deps has put it
    cmake -S examples/engines -B "$tmp/engines" -DCMAKE_C_COMPILER="$CC" -DENGINES="${2-}" \
        -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$tmp/engines" &&
        prints_a_radius "$tmp/engines/certify" "$1" 0.25 5
}
tell 'the engines, by their own CMakeLists.txt' engines examples/models/slant.onnx
if [ -e /usr/include/xgboost/c_api.h ]; then
    tell 'and one that is built if asked for' engines tests/engines/trees.json xgboost
fi

# ---- built as a part of the project
part() { # BLAS TARGETS
    rm -rf "$tmp/build"
    cmake -S tests/consumers -B "$tmp/build" -DCMAKE_C_COMPILER="$CC" -DLANGUAGE=C \
        -DCMAKE_C_FLAGS=-Werror -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DFOLDER="$root" \
        -DCERTREG_BLAS="$1" -DTARGETS="$2" \
        -DCERTREG_INSTALL=ON -DCMAKE_INSTALL_LIBDIR=lib \
        -DSOURCE="$root/tests/consumers/opens.c" && cmake --build "$tmp/build" -j2
}
tell 'a part of the project' part ON 'certreg::certreg;certreg::shared;certreg::static_blas'
in_project() { "$tmp/build/certreg-$1" blas; }
for kind in shared static_blas; do
    tell "its $kind library has OpenBLAS" [ "$(in_project $kind)" = '0 ' ]
done
tell 'by default a program has the library inside' is_static "$tmp/build/certreg-certreg"
symbols() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort; }
built=$(find "$tmp/build" -name libcertreg.so)
tell 'its shared library is that of make' diff <(symbols "$built") \
    <(symbols "$prefix/lib/libcertreg.so")
tell 'and of the same name' [ -e "$(dirname "$built")/libcertreg.so.$known" ]
objects=$(find "$tmp/build" -name certreg_objects.dir)
OBJ=$objects bash tests/hardened.sh "$built" || bad=1
certificates() { # LIBRARY: of every kind
    LD_LIBRARY_PATH=${1%/*} "$tmp/golden"
}
golden() {
    "$CC" -D_POSIX_C_SOURCE=200809L -DCERTREG_EXPERIMENTAL -Iinclude -Isrc -Itests \
        -Itests/emulated tests/golden/*.c -x c - -x none "$built" -lm -lpthread -o "$tmp/golden" \
        <<<'int emulated_enqueue(void) { return 1; }' &&
        certificates "$built" >"$tmp/certificates" && [ -s "$tmp/certificates" ] &&
        diff <(certificates "$prefix/lib/libcertreg.so") "$tmp/certificates"
}
tell 'its certificates have the bits of make' golden
with_cuda() {
    cmake -S . -B "$tmp/cuda" -DCMAKE_C_COMPILER="$CC" -DCERTREG_CUDA=ON &&
        cmake --build "$tmp/cuda" --target certreg_cuda
}
module() { # LIBRARY: what it exports, and the names of what it is loaded with
    symbols "$1" && ldd "$1" | awk '{ print $1, $3 == "not" }' | sort
}
name=certreg-$major/libcertreg_cuda.so
if [ -e "$prefix/lib/$name" ] && command -v nvcc >/dev/null; then
    tell 'with CUDA' with_cuda
    tell 'its module is that of make' diff <(module "$prefix/lib/$name") <(module "$tmp/cuda/$name")
fi
# Kernels have the flags of make, so that they are as fast.
flags_of() { grep -oE ' -(O[0-9]|m[a-z0-9]+|f(sched|inline|unroll)[a-z-]+)' | sort -u; }
by_make() { MAKEFLAGS=$loud make -Bn V=1 NVCC= OPT=-O2 all | grep -e "-c src/backend/$1"; }
by_cmake() { grep '"command"' "$tmp/build/compile_commands.json" | grep -e "-c .*$1"; }
for one in cpu_portable cpu_avx2 cpu_avx512; do
    tell "$one.c has the flags of make" diff <(by_make $one.c | flags_of) \
        <(by_cmake $one.c | flags_of)
done

# ---- installed by CMake
made=$prefix
use_prefix "$tmp/by-cmake"
tell 'cmake --install' cmake --install "$tmp/build" --prefix "$prefix"
works_everywhere 'by CMake'
tell 'by CMake: static with OpenBLAS inside' with_blas
headers() { (cd "$1/include" && find . -type f | sort); }
tell 'the headers are those of make' diff <(headers "$made") <(headers "$prefix")
by_pkg_config() {
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig build "$CC" examples/quickstart.c "$tmp/static" --static \
        -static && prints_a_radius "$tmp/static"
}
tell 'pkg-config finds it' by_pkg_config
use_prefix "$made"
small_library() { cmake -S . -B "$tmp/32" -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS=-m32 \
    -DCMAKE_C_COMPILER_WORKS=1; }
tell '32 bits are refused' says 'needs 64-bit sizes and pointers' small_library

# ---- moved
mv "$tmp/a prefix/usr" "$tmp/elsewhere"
use_prefix "$tmp/elsewhere"
works_everywhere moved
mkdir "$tmp/link" && ln -s "$tmp/elsewhere/lib" "$tmp/link/lib"
use_prefix "$tmp/link"
tell 'through a link to its folder' works shared 'REQUIRED' certreg::certreg
use_prefix "$tmp/elsewhere"

# ---- parts of it
mv "$prefix/lib/libcertreg.a" "$tmp/kept.a"
tell 'a missing static library is named' refuses "lacks $prefix/lib/libcertreg.a: install it" \
    'REQUIRED;COMPONENTS;static'
tell 'and the shared one is found without it' works shared 'REQUIRED' certreg::certreg
mv "$tmp/kept.a" "$prefix/lib/libcertreg.a"
rm "$prefix"/lib/libcertreg.so*
tell 'where only the static library is it is taken' works static 'REQUIRED' certreg::certreg
tell 'a missing shared library is named' refuses "lacks $prefix/lib/libcertreg.so.$known: install" \
    'REQUIRED;COMPONENTS;shared'
rm "$prefix/lib/libcertreg.a"
tell 'so is the library as a whole' refuses "lacks $prefix/lib/libcertreg.so.$known" 'REQUIRED'
rm "$prefix/include/certreg/certreg.h"
tell 'and the header' refuses "lacks $prefix/include/certreg/certreg.h" 'REQUIRED'
tell 'the project goes on if it need not be there' configure 'QUIET' ''
exit "$bad"
