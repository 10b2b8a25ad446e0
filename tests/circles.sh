#!/usr/bin/env bash
# circles.sh OBJ: no two files of the library need each other. A file needs another one where its
# object uses a symbol that the other's defines, so headers cannot hide it.
cd "${1:?the folder of objects}/src" || exit 2
nm -A ./*/*.o | awk '
    { sub(/\.o:.*/, "", $1); sub(/^\.\//, "", $1) }
    $NF ~ /^(cr_|certreg_)/ && $(NF - 1) == "U" { uses[$1 " " $NF] }
    $NF ~ /^(cr_|certreg_)/ && $(NF - 1) ~ /^[A-Z]$/ && $(NF - 1) != "U" { home[$NF] = $1 }
    END { for (use in uses) { split(use, part, " ")
              if (part[2] in home && home[part[2]] != part[1]) print part[1], home[part[2]] } }' |
    sort -u | tsort 2>&1 >/dev/null | sed -n "s/^tsort: \(-: \)\{0,1\}//p" |
    awk '/contains a loop/ { circles++; next } { print "  " $0 }
         END { if (circles) print "not ok " circles " circles of files"
               else print "ok no file needs one that needs it"
               exit circles > 0 }'
