#!/usr/bin/env bash
# consumers/run.sh [headers]: the library as others use it, or the header alone. The header under
# several compilers and standards; make install into an empty folder, programs built against it
# through pkg-config, the first program of README.md with its compile line; make uninstall.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
CC=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tell.sh
. "$root/tests/tell.sh"

# Variables of the calling make hold here too, so that the same library is installed; its jobs
# do not.
MAKEFLAGS=$(sed -E 's/ ?--jobserver-[a-z]+=[^ ]*//g; s/(^| )-j[0-9]*//g' <<<"${MAKEFLAGS:-}")
export MAKEFLAGS
unset MFLAGS MAKELEVEL PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH

# ---- the header alone
printf '#include <certreg/certreg.h>\nint nothing(void);\n%s\n' \
    'int nothing(void) { return (int)sizeof(certreg_plan) % 8; }' >"$tmp/header.c"
cp "$tmp/header.c" "$tmp/header.cpp"
strict='-Wall -Wextra -Werror -pedantic -Iinclude -fsyntax-only'
# shellcheck disable=SC2086 # flags and the compiler are lists of words
header() {
    command -v "${1%% *}" >/dev/null || { echo "skip $1 is not installed"; return; }
    tell "the header under $1 -std=$2" $1 -std=$2 $strict "$tmp/$3"
}
for standard in c99 c11 c2x; do header "$CC" "$standard" header.c; done
header clang c11 header.c
for standard in c++11 c++20; do header g++ "$standard" header.cpp; done
header clang++ c++11 header.cpp

[ "${1:-}" != headers ] || exit "$bad"

# ---- installed
prefix=$tmp/usr
folders=(PREFIX="$prefix" LIBDIR="$prefix/lib" INCLUDEDIR="$prefix/include")
install() { make -s --no-print-directory install "${folders[@]}"; }
tell 'make install' install
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
known=$(pkg-config --modversion certreg)
tell 'pkg-config knows the version' [ "$known" = "${VERSION:-$known}" ]

prints_a_radius() { # COMMAND...: its last number is a radius, and not zero
    local said
    said=$("$@") || return
    echo "$said"
    awk 'END { exit !($NF + 0 > 0) }' <<<"$said"
}
# shellcheck disable=SC2046,SC2086 # pkg-config answers with words
build() { # COMPILER SOURCE PROGRAM FLAGS-OF-PKG-CONFIG FLAGS
    $1 "$2" $(pkg-config $4 --cflags --libs certreg) $5 -o "$3"
}
static() { ! readelf -dW "$1" 2>/dev/null | grep -q 'NEEDED.*certreg'; }
cd "$tmp" || exit 2
awk '/static int model/ { on = 1 } /That is the whole/ { on = 0 } on' \
    "$root/include/certreg/certreg.h" |
    sed 's/^ \* \{0,5\}//' | sed '1i #include <certreg/certreg.h>\n#include <stdio.h>' >first.c
tell "the program on the header's first screen" build "$CC" first.c first '' '-Wall -Werror'
tell 'it prints a radius' prints_a_radius ./first
tell 'a program in C, shared' build "$CC" "$root/examples/quickstart.c" shared '' ''
tell 'it prints a radius' prints_a_radius ./shared
tell 'a program in C, static' build "$CC" "$root/examples/quickstart.c" static --static -static
tell 'it needs no shared library' static ./static
tell 'it prints a radius' env -u LD_LIBRARY_PATH ./static
tell 'and the same one' diff <(./shared) <(./static)
tell 'a program in C++' build 'g++ -std=c++11' "$root/tests/consumers/consumer.cpp" cpp '' \
    '-Wall -Wextra -Werror -pedantic'
tell 'it prints a radius' prints_a_radius ./cpp
# A program with the library inside, called by its name alone, has the module beside it, and never
# one in the working directory.
mkdir -p elsewhere/certreg bin
printf '%s static void run(void) { __builtin_puts("a stranger"); }\n' \
    '__attribute__((constructor))' >stranger.c
cat >opens.c <<'END'
#include <certreg/certreg.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 1 && chdir(argv[1])) return 9;
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *backend = NULL;
    printf("%d %s\n", (int)certreg_backend_open_cuda(0, NULL, NULL, &why, &backend), why.text);
    certreg_backend_close(backend);
    return 0;
}
END
$CC -shared -fPIC stranger.c -o elsewhere/certreg/libcertreg_cuda.so
by_name() { (cd elsewhere && PATH=$tmp/bin:$PATH opens); }
names_its_folder() { by_name | grep -F "$tmp/bin/certreg/"; }
private=$(pkg-config --static --libs-only-l certreg | sed 's/-lcertreg//')
# shellcheck disable=SC2086 # words
inside() { $CC opens.c -I"$prefix/include" "$prefix/lib/libcertreg.a" $private -o bin/opens; }
tell 'a program with the library inside' inside
tell 'it looks for the module beside itself' names_its_folder
tell 'and not in the working directory' \
    bash -c "! (cd elsewhere && PATH='$tmp/bin':\$PATH opens | grep stranger)"
lies() { exec -a "$tmp/elsewhere/opens" "$tmp/bin/opens"; }
called_otherwise() { (lies) | grep -F "$tmp/bin/certreg/"; }
tell 'nor where the name says that it was called with' called_otherwise
# The library loaded by a relative path, and another working directory when it looks for the module.
mkdir -p alone/lib away/lib/certreg
cp elsewhere/certreg/libcertreg_cuda.so away/lib/certreg/
cp "$prefix"/lib/libcertreg.so.0 alone/lib/
goes_away() { cd alone && LD_LIBRARY_PATH=lib "$tmp/loads" ../away; }
loaded_relatively() { (goes_away) | grep -F "$tmp/alone/lib/certreg/"; }
tell 'a program with a relative path to the library' build "$CC" opens.c loads '' ''
tell 'it looks for the module beside the library it has' loaded_relatively

# ---- README.md: the first program and its compile line, word for word
mkdir readme
cd readme || exit 2
awk '/^```c$/ && !done { inside = 1; next } /^```$/ { if (inside) done = 1; inside = 0 } inside' \
    "$root/README.md" >quickstart.c
line=$(sed -n 's/^    \(cc quickstart\.c .*\)/\1/p' "$root/README.md")
tell 'README.md shows examples/quickstart.c' diff quickstart.c "$root/examples/quickstart.c"
tell 'its compile line works' bash -c "${line:-false}"
tell 'the program prints a radius' prints_a_radius ./quickstart
cd "$root" || exit 2

# ---- and gone again; with DESTDIR, as packages are made
uninstall() { make -s --no-print-directory uninstall "${folders[@]}"; }
packaged() { make -s --no-print-directory "$1" PREFIX=/usr DESTDIR="$tmp/package"; }
none_left() {
    [ -z "$(find "$1" ! -type d; find "$1" -name certreg)" ] || { find "$1" ! -type d; false; }
}
tell 'make uninstall' uninstall
tell 'nothing is left' none_left "$prefix"
tell 'make install with DESTDIR' packaged install
tell 'all of it is below usr' [ "$(ls "$tmp/package")" = usr ]
tell 'the package does not name the folder it was made in' \
    bash -c "! grep -rIl '$tmp' '$tmp/package'"
tell 'make uninstall with DESTDIR' packaged uninstall
tell 'nothing is left' none_left "$tmp/package"
exit "$bad"
