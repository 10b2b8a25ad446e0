#!/usr/bin/env bash
# hardened.sh LIBRARY: what the library and its modules were linked and compiled with
# (src/harden.mk). From the Makefile: HARDENED, the flags that this compiler knows; and OBJ.
set -u
cd "$(dirname "$0")/.." || exit 2
: "${OBJ:?run me by make check}"
export LC_ALL=C
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
has() { [[ " ${HARDENED:-} " = *" $1 "* ]]; }

for library in "$1" "${1%/*}"/certreg-0/*.so; do
    [ -e "$library" ] || continue
    name=${library##*/} dynamic=$(readelf -dW "$library") segments=$(readelf -lW "$library")
    tell_none "$name binds all symbols when it is loaded" \
        "$(grep -q BIND_NOW <<<"$dynamic" || echo 'no BIND_NOW')"
    tell_none "$name makes its relocations read-only" \
        "$(grep -q GNU_RELRO <<<"$segments" || echo 'no GNU_RELRO')"
    tell_none "$name has no relocations in its code" "$(grep TEXTREL <<<"$dynamic")"
    tell_none "$name has no executable stack" \
        "$(grep GNU_STACK <<<"$segments" | grep -v ' RW ' || grep -q GNU_STACK <<<"$segments" ||
            echo 'no GNU_STACK')"
    tell_none "$name has nothing that is writable and executable" \
        "$(grep -E '^ *LOAD .* RWE ' <<<"$segments")"
    ! has -fstack-protector-strong || tell_none "$name has canaries" \
        "$(nm -D "$library" | grep -q ' __stack_chk_fail' || echo 'no __stack_chk_fail')"
    [[ ${HARDENED:-} != *FORTIFY* ]] || tell_none "$name makes checked calls" \
        "$(nm -D "$library" | grep -qE ' __[a-z]+_chk(@|$)' || echo 'none')"
    searched=$(grep -E 'R(UN)?PATH' <<<"$dynamic")
    [[ $name != *_cuda* ]] || searched=$(grep -vE '\[/[^:$]+\]$' <<<"$searched")
    tell_none "$name names no folder to search, except one toolkit's" "$searched"
done

# The linker marks the library only where the C library's start files are marked as well
# (docs/guide/installing.md).
marked() { readelf -nW "$1" | grep -q 'IBT, SHSTK'; }
objects=$(find "$OBJ/src" -name '*.o' 2>/dev/null)
if has -fcf-protection; then
    count=$(wc -l <<<"$objects")
    tell_none "$count objects are made for indirect branch tracking and shadow stacks" \
        "$(for object in $objects; do marked "$object" || echo "$object"; done)"
    first=$("${CC:-cc}" -print-file-name=crti.o) last=$("${CC:-cc}" -print-file-name=crtn.o)
    if marked "$first" && marked "$last"; then
        tell_none 'so is the library' "$(marked "$1" || echo 'no mark')"
    else
        echo "skip the library's mark of both: crti.o or crtn.o of the C library has none"
    fi
elif [ "${HARDENED:-}" = "" ]; then
    echo 'skip canaries, checked calls, branch tracking: HARDEN=0, or the compiler has none'
fi
exit "$bad"
