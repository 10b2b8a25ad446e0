#!/usr/bin/env bash
# columns.sh: no line is too wide. 100 columns in code; 88 in prose, which is Markdown and the
# comments of the public headers. Tables, links, images and code in Markdown may be wider.
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C.UTF-8
code() {
    find src include tests examples bench python pkgconfig .ci Makefile -type f \
        \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cpp' -o -name '*.py' -o -name '*.sh' \
        -o -name '*.mk' -o -name Makefile -o -path .ci/run \) 2>/dev/null
}
prose() { find . -name '*.md' -not -path './lib/*' -not -path './.git/*' | sed 's|^\./||'; }
bad=0
tell() { # NAME WIDE-LINES
    if [ -z "$2" ]; then echo "ok $1"; else
        bad=1
        echo "not ok $1: $(wc -l <<<"$2") lines are wider"
        printf '    %s\n' "${2//$'\n'/$'\n'    }"
    fi
}
where='print FILENAME ":" FNR ": " length() " columns"'
tell 'code keeps to 100 columns' "$(code | xargs awk "length() > 100 { $where }")"
# In a header: lines of a comment alone, and what a trailing comment adds to its line is code.
tell 'comments of the public headers keep to 88 columns' "$(find include -name '*.h' -print0 |
    xargs -0 awk "
        FNR == 1 { inside = 0 }
        { starts = /^[ \t]*\/\*/ ; alone = starts || inside }
        /\/\*/ { inside = 1 }
        /\*\// { inside = 0 }
        alone && length() > 88 { $where }")"
tell 'Markdown keeps to 88 columns' "$(prose | xargs awk "
        FNR == 1 { fenced = 0 }
        /^[ \t]*(\`\`\`|~~~)/ { fenced = !fenced; next }
        fenced || /^[ \t]*\|/ || /^    / || /\]\(|\]:|https?:/ { next }
        length() > 88 { $where }")"
exit "$bad"
