#!/usr/bin/env bash
# symbols.sh LIBRARY: the shared library needs what docs/stability.md allows. Exports: abi.py.
set -u
library=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh

dynamic=$(readelf -dW "$library")
soname=$(sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p' <<<"$dynamic")
tell_none 'the SONAME is libcertreg.so.0' \
    "$([ "$soname" = libcertreg.so.0 ] || echo "it is '$soname'")"
needed='libc|libm|libpthread|libdl|ld-linux[a-z0-9_-]*'
# Where BLAS and LAPACK have a module of their own, that module alone needs them.
[ -e "${library%/*}/certreg-0/libcertreg_blas.so" ] || needed+='|libopenblas|liblapacke'
tell_none "only ${needed//|/, } are needed" \
    "$(grep NEEDED <<<"$dynamic" | grep -Ev "\[($needed)\.so\.[0-9]+\]")"
# What would read the environment, print, end the program or handle signals.
calls='(secure_)?getenv|environ|setenv|putenv|.?printf|v?[fd]printf|f?puts|f?putc(har)?'
calls+='|fwrite|write|perror|v?syslog|_?exit|_Exit|abort|.*assert.*|raise|kill|signal|sigaction'
calls+='|setlocale|system'
tell_none 'it reads no environment, prints, ends and handles nothing' \
    "$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' |
        grep -xE "(__)?($calls)(_chk)?")"
tell_none 'it waits for threads by mutexes, conditions and joins alone' \
    "$(nm -D --undefined-only "$library" |
        grep -E 'trylock|timed|rwlock|spin|barrier|sem_|mtx_|cnd_|once|syscall|futex')"
tell_none 'it does not name the folder of its sources' "$(grep -aoFm1 "$PWD" "$library")"
tell_none 'the stack is not executable' \
    "$(readelf -lW "$library" | grep GNU_STACK | grep -v ' RW ')"

# Objects in writable sections. Tables that only the loader writes (.data.rel.ro) are constant; the
# names left out are those of the compiler's start files, and the kept answer of cpuid.
state=$(objdump -t "$library" | awk '
    /[ \t]\.(data|bss|tdata|tbss)(\.[^ \t]*)?[ \t]/ && !/\.data\.rel\.ro/ && / O / &&
    $NF !~ /^(completed\.[0-9]+|__dso_handle|__TMC_END__|detected_path)$/ {
        print $NF }')
tell_none 'there is no global state' "$state"
exit "$bad"
