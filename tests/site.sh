#!/usr/bin/env bash
# site.sh: the documentation site is built without a warning, so that everything public is
# documented and every link leads somewhere; pages can be read on a telephone, light and dark, as
# Chromium shows them, if it is installed; and mistakes of each kind are found.
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -r docs include python examples ./*.md LICENSE "$copy"
build=$copy/docs/site/build.py

# shellcheck disable=SC2317 # called through tell
without_doxygen() {
    local said
    said=$(PATH=/nowhere "$(python3 -c 'import sys; print(sys.executable)')" "$build" 2>&1) &&
        { echo "it did not fail"; return 1; }
    [[ $said = "docs: "*" is missing; make deps installs it" ]] || { echo "$said"; return 1; }
}
tell 'without doxygen the build says in a sentence what to install' without_doxygen
if ! said=$(python3 "$build" 2>&1); then
    [[ $said != "docs: "*" is missing; make deps installs it" ]] ||
        { echo "skip site: $said"; exit "$bad"; }
    echo "not ok the site is whole: $said"; bad=1
else echo "ok the site is whole"; fi
html=$copy/lib/docs/html
tell 'the search finds deadlines, torch and quantised inputs' python3 -c 'import json, sys
index = json.loads(open(sys.argv[1], encoding="utf-8").read()[len("Search.setIndex(") : -1])
for word, page in ("deadlin", "sampling"), ("torch", "python"), ("quantis", "units"):
    found = [index[where].get(word, []) for where in ("terms", "titleterms")]
    pages = [i for some in found for i in (some if isinstance(some, list) else [some])]
    assert f"docs/guide/{page}" in [index["docnames"][i] for i in pages], word
' "$html/searchindex.js"
loaded='<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//|url\("?(https?:)?//'
tell 'no network is used' test -z "$(grep -rEl "$loaded" --include=*.{html,css} "$html")"
if command -v chromium >/dev/null; then
    tell 'every page can be read at 390 pixels, light and dark' \
        python3 tests/site_shown.py "$html"
    mkdir "$copy/wrong" && cp "$html"/{search.html,searchindex.js} "$copy/wrong"
    wide=$(printf '%080d' 0)
    sed -i "s|<article[^>]*>|&<code>$wide</code><img src='none.svg'>\
<p style='color: #888; background: #999'>pale</p>|" "$copy/wrong/search.html"
    said=$(python3 tests/site_shown.py "$copy/wrong")
    for wanted in 'right of the window' 'a contrast of' 'no alternative text' 'finds nothing'; do
        tell "a page that cannot be read is named: $wanted" grep -q "$wanted" <<<"$said"
    done
else echo 'skip pages as a browser shows them: no chromium'; fi

# All of these mistakes at once, in a site of few pages. The build names each of them.
rm -r "$copy"/docs/{theory/[0-9]*,guide/[a-np-r]*,reproduction*} \
    "$copy"/{examples/*/,include/certreg/certreg.hpp}
change() { # FILE SED-SCRIPT: the script must change the file
    cp "$copy/$1" "$copy/kept"
    sed -i "$2" "$copy/$1"
    ! cmp -s "$copy/kept" "$copy/$1" || { echo "not ok nothing to change in $1: $2"; bad=1; }
}
header=include/certreg/certreg.h
change $header 's|^\( *size_t rows;\).*/\* model.batch.*|\1|'
change $header 's|^\( *CERTREG_OUTCOME_CERTIFIED = 1,\).*|\1|'
change include/certreg/sampling.h 's|@param level  below|@param lovel  below|'
change $header 's|^/\* ==== estimator .*|/* Forgotten words, followed by nothing. */\n\n&|'
change docs/guide/outputs.md '$ a A link to [nothing](sampling.md#nowhere), and to [none](none.c).'
change docs/guide/sampling.md '$ a ![far away](https://example.org/far.svg) ![](none.svg)'
# shellcheck disable=SC2016 # sed reads it
change python/certreg/questions.py '/^def question_digest/,/"""$/ { /"""/,$d; }'
echo '# Alone' >"$copy/docs/guide/alone.md"
said=$(python3 "$build" 2>&1) && { echo "not ok the mistakes were not noticed"; bad=1; }
while IFS= read -r wanted; do
    tell "a mistake is named: $wanted" grep -E "$wanted" <<<"$said"
done <<'LIST'
rows has no documentation
CERTREG_OUTCOME_CERTIFIED has no documentation
lovel
these words are not in the site: /. Forgotten words
reference target not found: sampling.md#nowhere
reference target not found: none.c
loads https://example.org/far.svg
image file not readable: docs/guide/none.svg
question_digest has no docstring
alone.md: WARNING: document isn't included in any toctree
LIST
exit "$bad"
