#!/usr/bin/env bash
# circles.sh OBJ: no two files of the library and its modules need each other, directly or through
# others. A file needs another one where its object uses a symbol that the other's defines, or where
# its source names an inline function of the other's header. Types do not count: a header may
# describe what two files share. Objects of the CUDA module are those for the emulated device.
cd "$(dirname "$0")/../src" || exit 2
made=../${1:?the folder of objects}
mapfile -t sources < <(printf '%s\n' ./*/*.c ./*/*/*.c ./*/*/*.cu)
mapfile -t objects < <(printf '%s.o\n' "${sources[@]%.*}" |
    sed 's|^\./backend/cuda/|tests/emulated/cuda/|; s|^\./|src/|')
[ -e "$made/src/backend/blas/openblas.o" ] || # BLAS=0
    mapfile -t objects < <(printf '%s\n' "${objects[@]}" | grep -v /blas/)
symbols=$(cd "$made" && nm -A "${objects[@]}") || exit 2
{
    awk '
        { sub(/\.o:.*/, "", $1); sub(/^src\//, "", $1); sub(/^tests\/emulated/, "backend", $1) }
        $NF ~ /^(cr_|certreg_)/ && $(NF - 1) == "U" { uses[$1 " " $NF] }
        $NF ~ /^(cr_|certreg_)/ && $(NF - 1) ~ /^[A-Z]$/ && $(NF - 1) != "U" { home[$NF] = $1 }
        END { for (use in uses) { split(use, part, " ")
                  if (part[2] in home && home[part[2]] != part[1]) print part[1], home[part[2]] } }
        ' <<<"$symbols"
    grep -oE '^(static inline|CR_INLINE|CR_RARE) [^(]*\<cr_[a-z0-9_]+\(' ./*/*.h ./*/*/*.h |
        sed -E 's/^\.\/(.*)\.h:.*\<(cr_[a-z0-9_]+)\($/\1 \2/' |
        while read -r home name; do
            grep -lw "$name" "${sources[@]}" | sed -E "s|^\./(.*)\.cu?$|\1 $home|"
        done | awk '$1 != $2'
} | sort -u | tsort 2>&1 >/dev/null | sed -n "s/^tsort: \(-: \)\{0,1\}//p" |
    awk '/contains a loop/ { circles++; next } { print "  " $0 }
         END { if (circles) print "not ok " circles " circles of files"
               else print "ok no file needs one that needs it"
               exit circles > 0 }'
