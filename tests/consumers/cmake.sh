#!/usr/bin/env bash
# consumers/cmake.sh: programs that find the library by CMake, in the build tree, installed, and
# after the whole prefix has been moved; what is missing is one sentence.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
command -v cmake >/dev/null || { echo "skip CMake is not installed (make deps)"; exit 0; }
configure() { # WHAT-FIND_PACKAGE-IS-ASKED TARGETS [LANGUAGE [SOURCE]]
    rm -rf "$tmp/build"
    cmake -S "$root/tests/consumers" -B "$tmp/build" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$prefix" -DLANGUAGE="${3-C}" -DASK="$1" -DTARGETS="$2" \
        -DSOURCE="${4:-$root/examples/quickstart.c}" "${more[@]}"
}
more=()
# Programs of CMake have the library's folder in them, so that nothing needs to be set.
works() { # static|shared ARGUMENTS-OF-CONFIGURE...
    local kind=$1
    shift
    configure "$@" && cmake --build "$tmp/build" || return
    local program=$tmp/build/${2/::/_}
    prints_a_radius "$program" || return
    if [ "$kind" = static ]; then is_static "$program"; else ! is_static "$program"; fi
}

use_prefix "$root"
tell 'the build tree' works shared 'REQUIRED' certreg::certreg
use_prefix "$tmp/a prefix/usr"
tell 'make install' make_it install
static='0.1;REQUIRED;COMPONENTS;static'
cpp=$root/tests/consumers/consumer.cpp
works_everywhere() { # NAME
    tell "$1: shared" works shared '0.1;REQUIRED' certreg::certreg
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
tell 'a project without a language' configure '0.1;REQUIRED' '' NONE
tell 'a range of versions' configure '0.1...<0.2;REQUIRED' certreg::certreg

refuses() { # SENTENCE ASK
    says "$1" configure "$2" certreg::certreg
}
known=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' \
    "$prefix/lib/cmake/certreg/certreg-config-version.cmake" | head -1)
for ask in 0.99 1.0 '0.0...<0.1.0' '0.0.1;EXACT'; do
    tell "version $ask is refused" refuses "certreg-config.cmake, version: $known" "$ask;REQUIRED"
done
# The same rule in a version file of a later major version.
description=$prefix/lib/cmake/certreg/certreg-config-version.cmake
cp "$description" "$tmp/kept.cmake"
sed -i "s/\"$known/\"7.2.0/; s/STREQUAL \"${known%%.*}\"/STREQUAL \"7\"/" "$description"
tell 'an older major version is refused' refuses 'version: 7.2.0' '6.9;REQUIRED'
tell 'an older minor version is not' configure '7.1;REQUIRED' certreg::certreg
cp "$tmp/kept.cmake" "$description"
small() { configure '0.1;REQUIRED' '' NONE; }
more=(-DCMAKE_SIZEOF_VOID_P=4)
tell 'programs of 32 bits are refused' says "version: $known (64bit)" small
more=()
tell 'an unknown component is refused' \
    refuses 'lacks a component of the name fortran (there are shared and static): install' \
    'REQUIRED;COMPONENTS;shared;fortran'

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
