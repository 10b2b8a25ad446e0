#!/usr/bin/env bash
# circles.sh OBJ: no two files of the library need each other, directly or through others. A file
# needs another one where its object uses a symbol that the other's defines, or where its source
# names an inline function of the other's header. Types do not count: a header may describe what two
# files share.
cd "$(dirname "$0")/../src" || exit 2
made=../${1:?the folder of objects}/src
mapfile -t objects < <(printf '%s\n' ./*/*.c | sed 's/c$/o/')
symbols=$(cd "$made" && nm -A "${objects[@]}") || exit 2
{
    awk '
        { sub(/\.o:.*/, "", $1); sub(/^\.\//, "", $1) }
        $NF ~ /^(cr_|certreg_)/ && $(NF - 1) == "U" { uses[$1 " " $NF] }
        $NF ~ /^(cr_|certreg_)/ && $(NF - 1) ~ /^[A-Z]$/ && $(NF - 1) != "U" { home[$NF] = $1 }
        END { for (use in uses) { split(use, part, " ")
                  if (part[2] in home && home[part[2]] != part[1]) print part[1], home[part[2]] } }
        ' <<<"$symbols"
    grep -oE '^(static inline|CR_INLINE|CR_RARE) [^(]*\<cr_[a-z0-9_]+\(' ./*/*.h |
        sed -E 's/^\.\/(.*)\.h:.*\<(cr_[a-z0-9_]+)\($/\1 \2/' |
        while read -r home name; do
            grep -lw "$name" ./*/*.c | sed -E "s/^\.\/(.*)\.c$/\1 ${home//\//\\/}/"
        done | awk '$1 != $2'
} | sort -u | tsort 2>&1 >/dev/null | sed -n "s/^tsort: \(-: \)\{0,1\}//p" |
    awk '/contains a loop/ { circles++; next } { print "  " $0 }
         END { if (circles) print "not ok " circles " circles of files"
               else print "ok no file needs one that needs it"
               exit circles > 0 }'
