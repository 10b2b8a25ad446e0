#!/usr/bin/env bash
# site.sh: the documentation site is built without a warning, everything public is documented, every
# link leads somewhere, no text is lost; and mistakes of each kind make the build fail.
cd "$(dirname "$0")/.." || exit 2
command -v doxygen >/dev/null || { echo "skip site: doxygen is not installed (make deps)"; exit 0; }
# shellcheck source=tests/tell.sh
. tests/tell.sh
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -r docs include python examples ./*.md LICENSE "$copy"
build=$copy/docs/site/build.py

# shellcheck disable=SC2317 # called through tell
without_doxygen() {
    local said
    said=$(PATH=/nowhere "$(python3 -c 'import sys; print(sys.executable)')" "$build" 2>&1) &&
        { echo "it did not fail"; return 1; }
    [[ $said = "docs: doxygen is missing; make deps installs it"* ]] || { echo "$said"; return 1; }
}
# shellcheck disable=SC2317
without_docstring() {
    local said status=0
    sed -i.kept '/^def question_digest/,/"""$/ { /"""/,$d; }' "$copy/python/certreg/questions.py"
    said=$(python3 "$build" 2>&1) && { echo "it did not fail"; status=1; }
    grep -qF 'question_digest has no docstring' <<<"$said" || { echo "$said"; status=1; }
    mv "$copy/python/certreg/questions.py.kept" "$copy/python/certreg/questions.py"
    return "$status"
}

tell 'without doxygen the build says in a sentence what to install' without_doxygen
tell 'a public name of Python without a docstring is refused' without_docstring
tell 'the site is whole' python3 "$build"
fields=$copy/lib/docs/html/structcertreg__question.html
for place in group__section__targets__serving__vectors.html#target-radius \
    group__section__targets__serving__vectors.html#serving \
    group__section__methods.html#methods CERTREG_STATISTIC_ 'outputs output \.\.'; do
    tell "fields of a question lead to or say: $place" grep -q "$place" "$fields"
done

# All of these mistakes at once. The build names each of them.
change() { # FILE SED-SCRIPT: the script must change the file
    cp "$copy/$1" "$copy/kept"
    sed -i "$2" "$copy/$1"
    ! cmp -s "$copy/kept" "$copy/$1" || { echo "not ok nothing to change in $1: $2"; bad=1; }
}
header=include/certreg/certreg.h
change $header 's|^\( *size_t rows;\).*/\* always.*|\1|'
change $header 's|^\( *CERTREG_OUTCOME_CERTIFIED = 1,\).*|\1|'
change include/certreg/sampling.h 's|@param level  below|@param lovel  below|'
change $header 's|^/\* ==== estimator .*|/* Forgotten words, followed by nothing. */\n\n&|'
change docs/guide/outputs.md '$ a A link to [nothing](sampling.md#nowhere).'
change docs/guide/sampling.md '$ a ![far away](https://example.org/far.svg)'
change docs/guide/deploying.md '$ a \\n| a | b |\n|---|---|\n| c | d | lost |'
said=$(python3 "$build" 2>&1) && { echo "not ok the mistakes were not noticed"; bad=1; }
while IFS= read -r wanted; do
    tell "a mistake is named: $wanted" grep -E "$wanted" <<<"$said"
done <<'LIST'
rows has no documentation
CERTREG_OUTCOME_CERTIFIED has no documentation
lovel
these words are not in the site: /. Forgotten words
leads to guide_sampling.html#nowhere
loads https://example.org/far.svg
docs/guide/deploying.md and guide_deploying.html differ
LIST
exit "$bad"
