#!/usr/bin/env bash
# columns.sh: no line is too wide: 100 columns in code, 88 in the public headers and in Markdown.
# In Markdown tables, links and code may be wider.
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
bad=0
# Characters, not bytes: of a character in UTF-8 all bytes but one are 0x80 to 0xbf.
width='function width(text) { gsub(/[\200-\277]/, "", text); return length(text) }'
narrow() { # NAME COLUMNS WHICH-LINES: of the files that are listed on the input
    local wide
    wide=$(xargs -r awk -v most="$2" "$width $3
        kept && width(\$0) > most { print FILENAME \":\" FNR \": \" width(\$0) }")
    [ -n "$wide" ] || { echo "ok $1 keeps to $2 columns"; return; }
    head -40 <<<"$wide"
    echo "not ok $1 keeps to $2 columns: $(wc -l <<<"$wide") lines do not"
    return 1
}
sources() { find "${@:2}" -type f -name "$1" -not -path '*/.*' -not -path '*/lib/*' 2>/dev/null; }

folders=(src tests examples bench pkgconfig python docs)
for kind in '*.[ch]' '*.[ch]pp' '*.cu' '*.py' '*.sh' '*.mk'; do
    sources "$kind" "${folders[@]}"
done |
    { cat; echo Makefile; echo .ci/run; } | narrow code 100 '{ kept = 1 }' || bad=1
for kind in '*.h' '*.hpp'; do sources "$kind" include; done |
    narrow 'every public header' 88 '{ kept = 1 }' || bad=1
sources '*.md' ./*.md "${folders[@]}" | narrow Markdown 88 '
    FNR == 1 { fence = code = 0; blank = 1 }
    /^[ \t]*(```|~~~)/ { fence = !fence }
    { code = /^    / && (blank || code); blank = /^[ \t]*$/
      kept = !fence && !code && !/^[ \t]*\|/ && !/\]\(|\]:|https?:/ }' || bad=1
exit "$bad"
