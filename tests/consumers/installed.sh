#!/usr/bin/env bash
# consumers/installed.sh: programs built with pkg-config against an installed library, shared and
# static, C and C++, also by Meson; the first program of README.md with its compile line; where a
# program with the library inside looks for modules.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
tell 'make install' make_it install
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
known=$(pkg-config --modversion certreg)
tell 'pkg-config knows the version' [ "$known" = "${VERSION:-$known}" ]
tell 'pkg-config refuses a newer one' says "has version '$known', required version is '>= 99'" \
    pkg-config --print-errors 'certreg >= 99'
ahead=$(sed -n 's/.*  Version [0-9.]*-\(.*\)$/\1/p' include/certreg/certreg.h)
tell 'and whether it is released' [ "$(pkg-config --variable=prerelease certreg)" = "$ahead" ]

cd "$tmp" || exit 2
awk '/static int model/ { on = 1 } /That is the whole/ { on = 0 } on' \
    "$root/include/certreg/certreg.h" |
    sed 's/^ \* \{0,5\}//' | sed '1i #include <certreg/certreg.h>\n#include <stdio.h>' >first.c
tell "the program on the header's first screen" build "$CC" first.c first '' '-Wall -Werror'
tell 'it prints a radius' prints_a_radius ./first
tell 'a program in C, shared' build "$CC" "$root/examples/quickstart.c" shared '' ''
tell 'it prints a radius' prints_a_radius ./shared
tell 'a program in C, static' build "$CC" "$root/examples/quickstart.c" static --static -static
tell 'it needs no shared library' is_static ./static
tell 'it prints a radius' env -u LD_LIBRARY_PATH ./static
tell 'and the same one' diff <(./shared) <(./static)
plugin() {
    eval "$CC first.c -shared -fPIC -o plugin.so $(pkg-config --static --cflags --libs certreg |
        sed 's/-lcertreg /-l:libcertreg.a /')"
}
tell 'a plugin, static' plugin
hides() { nm -D plugin.so | grep ' main' && ! nm -D plugin.so | grep certreg_; }
tell 'it has the library inside and hides it' hides
tell 'it has no OpenBLAS in it' [ "$(stat -c %s static)" -lt 8000000 ]
opens=$root/tests/consumers/opens.c
tell 'a static program that makes denoisers' build "$CC" "$opens" unable --static -static
cp -r "$prefix"/lib/certreg-0 .
tell 'it cannot open the module' grep -F 'a static program cannot open it' <(./unable blas)
rm -r certreg-0
if [ -e "$prefix/lib/libcertreg_blas.a" ]; then
    with_blas() { package=certreg-blas build "$CC" "$opens" able --static -static; }
    tell 'with certreg-blas it has OpenBLAS inside' with_blas
    tell 'and makes them' [ "$(./able blas)" = '0 ' ]
fi
tell 'a program in C++' build 'g++ -std=c++11' "$root/tests/consumers/consumer.cpp" cpp '' \
    '-Wall -Wextra -Werror -pedantic'
tell 'it prints a radius' prints_a_radius ./cpp
if command -v meson >/dev/null; then
    mkdir user && cp "$root/examples/quickstart.c" user/program.c
    by_meson() { # OPTIONS-OF-DEPENDENCY: for the lines of installing.md
        { echo "project('user', 'c')" &&
            sed -n "/^\`\`\`meson/,/^\`\`\`/{/^\`/!{s/cy(.*'/&$1/;p}}" \
                "$root/docs/guide/installing.md"
        } >user/meson.build && rm -rf by-meson && meson setup by-meson user &&
            meson compile -C by-meson && prints_a_radius by-meson/program
    }
    tell 'a program by Meson, shared' by_meson ''
    tell 'a program by Meson, static' by_meson ', static: true'
    tell 'it needs no shared library' is_static by-meson/program
else echo 'skip Meson is not installed (make deps)'; fi
# A program with the library inside, called by its name alone, has the module beside it, and never
# one in the working directory.
mkdir -p elsewhere/certreg-0 bin
printf '%s static void run(void) { __builtin_puts("a stranger"); }\n' \
    '__attribute__((constructor))' >stranger.c
$CC -shared -fPIC stranger.c -o elsewhere/certreg-0/libcertreg_cuda.so
by_name() { (cd elsewhere && PATH=$tmp/bin:$PATH opens cuda); }
names_its_folder() { by_name | grep -F "$tmp/bin/certreg-0/"; }
private=$(pkg-config --static --libs-only-l certreg | sed 's/-lcertreg//')
# shellcheck disable=SC2086 # words
inside() { $CC "$opens" -I"$prefix/include" "$prefix/lib/libcertreg.a" $private -o bin/opens; }
tell 'a program with the library inside' inside
tell 'it looks for the module beside itself' names_its_folder
tell 'and not in the working directory' \
    bash -c "! (cd elsewhere && PATH='$tmp/bin':\$PATH opens cuda | grep stranger)"
lies() { exec -a "$tmp/elsewhere/opens" "$tmp/bin/opens" cuda; }
called_otherwise() { (lies) | grep -F "$tmp/bin/certreg-0/"; }
tell 'nor where the name says that it was called with' called_otherwise
# The library loaded by a relative path, and another working directory when it looks for the module.
mkdir -p alone/lib away/lib/certreg-0
cp elsewhere/certreg-0/libcertreg_cuda.so away/lib/certreg-0/
cp "$prefix"/lib/libcertreg.so.0 alone/lib/
goes_away() { cd alone && LD_LIBRARY_PATH=lib "$tmp/loads" cuda ../away; }
loaded_relatively() { (goes_away) | grep -F "$tmp/alone/lib/certreg-0/"; }
tell 'a program with a relative path to the library' build "$CC" "$opens" loads '' ''
tell 'it looks for the module beside the library it has' loaded_relatively

# ---- README.md: its part of the first program, and its compile line, word for word
mkdir readme
cd readme || exit 2
mkdir examples && cp "$root/examples/quickstart.c" examples/
part=$(awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/README.md")
is_a_part() { [ -n "$part" ] && [[ $(<examples/quickstart.c) = *"$part"* ]]; }
line=$(sed -n 's|^    \(cc examples/quickstart\.c .*\)|\1|p' "$root/README.md")
tell 'README.md shows a part of examples/quickstart.c' is_a_part
tell 'its compile line works' bash -c "${line:-false}"
tell 'the program prints a radius' prints_a_radius ./quickstart
exit "$bad"
