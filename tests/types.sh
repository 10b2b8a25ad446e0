#!/usr/bin/env bash
# types.sh: what mypy says about the Python package, for its own version of Python strictly, and for
# the oldest one that the package supports. Versions of mypy differ in what they say; the one asked
# is that of make deps-all.
cd "$(dirname "$0")/../python" || exit 2
mypy=$PWD/../lib/deps/venv/bin/mypy
[ -x "$mypy" ] || { echo "skip types: make deps-all installs mypy"; exit 0; }
oldest=$(sed -n 's/^requires-python = ">=\(.*\)"/\1/p' ../pyproject.toml)
# shellcheck source=tests/tap_helpers.sh
. ../tests/tap_helpers.sh
# shellcheck disable=SC2317 # called through tell
types() { "$mypy" --cache-dir ../lib/.mypy "$@"; }
tell 'the types of the package' types --strict certreg
tell 'programs that use its names' types --strict -c \
    'from certreg import Estimator, Statistic, certify_rows as f; print(Estimator, Statistic, f)'
tell "it is Python $oldest" types --python-version "$oldest" certreg
exit "$bad"
