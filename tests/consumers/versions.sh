#!/usr/bin/env bash
# consumers/versions.sh: this version of the library and the next one (docs/stability.md). The
# next one is made from a copy: a higher minor version, a field more in two structs, a new function
# with a version node of its own, and modules of another interface. Programs of each version run
# with the library of the other, or a sentence says why not; modules are refused by one. In one
# prefix the version that was installed last is used, and make uninstall of the other leaves it
# whole.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
number=$(sed -n 's/^#define CERTREG_VERSION_NUMBER \([0-9]*\).*/\1/p' include/certreg/certreg.h)
later=$((number / 100 * 100 + 100))
dotted() { echo $(($1 / 10000)).$(($1 / 100 % 100)).$(($1 % 100)); }
this=$(dotted "$number") next=$(dotted $later) soname=libcertreg.so.$((number / 10000))

# ---- the next version
source=$tmp/source
mkdir "$source"
cp -r LICENSE Makefile ./*.md bench docs examples include pkgconfig python src tests "$source"
change() { # FILE SED-SCRIPT: which has to change something
    cp "$source/$1" "$tmp/before" && sed -i "$2" "$source/$1" && ! cmp -s "$source/$1" "$tmp/before"
}
grow() { # STRUCT: a double more at its end
    local size
    size=$(sed -n "s/.*(certreg_$1, .*, \([0-9]*\)).*/\1/p" "$source/src/base/struct_sizes.h")
    change include/certreg/certreg.h "s/^} certreg_$1;/    double next;\n&/" &&
        change src/base/struct_sizes.h "/(certreg_$1,/s/ $size)/ $((size + 8)))/"
}
make_next() {
    local function='CERTREG_API uint32_t certreg_version(void);' header=include/certreg/certreg.h
    change "$header" "s/^\(#define CERTREG_VERSION_NUMBER\) .*/\1 $later/" &&
        change "$header" "s/^$function/&\n#define CERTREG_NEXT\n${function/version/next}/" &&
        grow question && grow certificate &&
        echo "uint32_t certreg_next(void) { return $later; }" >>"$source/src/base/status_text.c" &&
        echo 'CERTREG_NEXT { global: certreg_next; } CERTREG_0;' >>"$source/src/certreg.map" &&
        change src/backend/backend.h 's/\(#define CR_BLAS_API\) .*/\1 1000u/' &&
        change src/backend/backend.h 's/\(#define CR_BACKEND_API\) .*/\1 1000u/' &&
        make -s -j2 -C "$source" "${quickly[@]}"
}
# Bits do not depend on how a compiler optimizes, and this is built for a few calls. Without
# optimization GCC warns of its own intrinsics.
quickly=(NVCC='' OPT=-O0 WERROR=)
tell 'the next version can be built' make_next
[ "$bad" = 0 ] || exit 1
of() { # VERSION install|uninstall
    if [ "$1" = "$this" ]; then make_it "$2"; else make_it -C "$source" "${quickly[@]}" "$2"; fi
}
for one in "$this" "$next"; do
    use_prefix "$tmp/$one"
    tell "make install of $one" of "$one" install
done

# ---- programs of one and libraries of the other
program() { # SOURCE NAME VERSION FLAGS: compiled with the headers and the library of a version
    PKG_CONFIG_PATH=$tmp/$3/lib/pkgconfig build "$CC" "$1" "$tmp/$2-$3" '' "${4:-}"
}
with() { LD_LIBRARY_PATH=$tmp/$1/lib "$tmp/$2" "${@:3}"; } # VERSION PROGRAM ARGUMENT...
same() { # PROGRAM ARGUMENT...: both libraries end it well
    local before after
    before=$(with "$this" "$@") || return
    after=$(with "$next" "$@") || return
    diff <(echo "$before") <(echo "$after")
}
versions=$root/tests/consumers/versions.c
for one in "$this" "$next"; do
    tell "a program of $one" program "$versions" versions "$one" '-Wall -Werror'
    tell 'it prints the same with either library' same "versions-$one"
done
answer=$(with "$this" "versions-$this")
tell 'and prints a radius' grep -q '^radius 0x1' <<<"$answer"
tell 'programs of both print the same' [ "$answer" = "$(with "$this" "versions-$next")" ]
for example in quickstart vector bounds_by_hand; do
    tell "example $example of $this" program "examples/$example.c" "$example" "$this" -lm
    tell 'it prints the same with either library' same "$example-$this"
done
prints() { # TEXT COMMAND...
    local said
    said=$("${@:2}" 2>&1)
    grep -qF -- "$1" <<<"$said" || { echo "$said" && false; }
}
tell 'its new field is refused by the library of before' \
    prints 'status 12 question 0: question[0] sets a field that this version' \
    with "$this" "versions-$next" 1
accepts() { diff <(echo "$answer") <(with "$next" "versions-$next" 1); }
tell 'and accepted by its own' accepts
tell 'a program that calls a new function' \
    program "$versions" calls "$next" -DCERTREG_CALLS_NEXT
tell 'it runs with its own library' with "$next" "calls-$next"
tell 'the loader refuses it with the library of before' \
    says "version \`CERTREG_NEXT' not found" with "$this" "calls-$next"

# ---- modules of the other version beside a library
for one in "$this" "$next"; do
    tell "a program that opens modules, $one" program "$root/tests/consumers/opens.c" opens "$one"
done
opens() { with "$1" "opens-$1" "$2"; } # VERSION MODULE
other="was made for another version of this library; install the one that came with it"
tell 'the BLAS module of before' prints '0 ' opens "$this" blas
cp "$tmp/$next/lib/certreg-0/libcertreg_blas.so" "$tmp/kept.so"
cp "$tmp/$this/lib/certreg-0/libcertreg_blas.so" "$tmp/$next/lib/certreg-0/"
tell 'is refused by the next version' prints "12 certreg-0/libcertreg_blas.so $other" \
    opens "$next" blas
cp "$tmp/kept.so" "$tmp/$this/lib/certreg-0/libcertreg_blas.so"
tell 'and that of the next version by the one of before' \
    prints "12 certreg-0/libcertreg_blas.so $other" opens "$this" blas
stranger() { # VERSION: a CUDA module of the version before
    $CC -shared -fPIC -std=c11 -I"$2/src" -I"$2/include" tests/modules/old_module.c \
        -o "$tmp/$1/lib/certreg-0/libcertreg_cuda.so"
}
for one in "$this" "$next"; do
    tell "a CUDA module of another version beside $one" stranger "$one" "$root"
    tell 'is refused as well' prints "12 the module cuda $other" opens "$one" cuda
done

# ---- one after the other in one prefix
use_prefix "$tmp/both"
lib=$prefix/lib
links_to() { # VERSION: the links, and what pkg-config and the header say
    local header=$prefix/include/certreg/certreg.h
    [ "$(readlink -f "$lib/libcertreg.so")" = "$lib/libcertreg.so.$1" ] &&
        [ "$(readlink "$lib/$soname")" = "libcertreg.so.$1" ] &&
        [ "$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion certreg)" = "$1" ] &&
        { [ "$1" = "$this" ] || grep -q CERTREG_NEXT "$header"; }
}
tell "make install of $this" of "$this" install
tell 'it is used' links_to "$this"
tell "make install of $next" of "$next" install
tell 'now that is used' links_to "$next"
tell 'and the library of before is there' [ -e "$lib/libcertreg.so.$this" ]
tell "a program of $this runs with it" with both "versions-$this"
tell "a program of $next too" with both "calls-$next"
says_who() { # VERSION OTHER
    prints "make uninstall: $lib is in use by certreg $2, whose files stay" of_loudly "$1"
}
of_loudly() {
    local where=$root
    [ "$1" = "$this" ] || where=$source
    MAKEFLAGS=$loud make --no-print-directory -C "$where" uninstall "${folders[@]}"
}
tell "make uninstall of $this" says_who "$this" "$next"
tell 'its library is gone' [ ! -e "$lib/libcertreg.so.$this" ]
tell 'the other is still used' links_to "$next"
tell 'and whole' with both "calls-$next"
tell 'its documentation too' [ -s "$prefix/share/doc/certreg/docs/guide/concepts.md" ]
tell "make install of $this" of "$this" install
tell 'an older version can be installed again' links_to "$this"
tell "make uninstall of $next" says_who "$next" "$this"
tell "make uninstall of $this" of "$this" uninstall
tell 'nothing is left' none_left "$prefix"
exit "$bad"
