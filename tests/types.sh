#!/usr/bin/env bash
# types.sh: what mypy says about the Python package, for its own version of Python strictly, and for
# the oldest one that the package supports. Versions of mypy differ in what they say; the one asked
# is that of make deps-all.
cd "$(dirname "$0")/../python" || exit 2
mypy=$PWD/../lib/deps/venv/bin/mypy
[ -x "$mypy" ] || { echo "skip types: make deps-all installs mypy"; exit 0; }
oldest=$(sed -n 's/^requires-python = ">=\(.*\)"/\1/p' ../pyproject.toml)
bad=0
tell() { # NAME OPTION...
    local name=$1 said
    shift
    if said=$("$mypy" --cache-dir ../lib/.mypy "$@" certreg 2>&1); then echo "ok $name"; else
        bad=1
        echo "not ok $name: $said"
    fi
}
tell 'the types of the package' --strict
tell "it is Python $oldest" --python-version "$oldest"
exit "$bad"
