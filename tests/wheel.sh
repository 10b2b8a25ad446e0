#!/usr/bin/env bash
# wheel.sh: the Python package as others get it. From a copy of the tracked files: make wheel, the
# sdist, pip install of each and of the copy itself, in a new environment of every CPython from 3.10
# on that is found; there the package has to work in another folder with nothing set, and to leave
# nothing when it is uninstalled.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD tools=$PWD/lib/deps/venv/bin
[ -x "$tools/auditwheel" ] || { echo "skip wheel: make deps-all installs what makes one"; exit 0; }
git ls-files >/dev/null 2>&1 || { echo "skip wheel: not a git checkout"; exit 0; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
jobs=()
# shellcheck source=tests/tap_helpers.sh
. "$root/tests/tap_helpers.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL PYTHONPATH PYTHONHOME LD_LIBRARY_PATH VIRTUAL_ENV "${!CERTREG_@}"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_QUIET=1
"$tools/pip" download --no-deps -d "$tmp/index" hatchling >/dev/null 2>&1 ||
    { echo "skip wheel: pip reaches no index of packages"; exit 0; }

# ---- made
version=$(sed -n 's/.*  Version \(.*\)$/\1/p' include/certreg/certreg.h)
version=${version/-dev/.dev0} # as Python writes it
clone=$tmp/clone
mkdir -p "$clone" "$tmp/elsewhere" "$tmp/made"
git ls-files -z | xargs -0 cp --parents -t "$clone"
cp -r "$clone" "$tmp/pristine"
make_wheel() { # with the tools of this repository
    mkdir -p "$clone/lib" && ln -s "$root/lib/deps" "$clone/lib/deps" &&
        make -s -C "$clone" wheel && mv "$clone"/dist/*.whl "$tmp/made"
}
tell 'make wheel' make_wheel
rm -rf "${clone:?}/lib" "$clone/dist"
wheel=$(echo "$tmp/made/certreg-$version-py3-none-manylinux"*.whl)
tell 'its name has the version and any CPython' [ -s "$wheel" ]
licensed() { # of each library inside, and RECORD has every file as it is
    "$tools/python" - "$wheel" <<'END'
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = [name for name in wheel.namelist() if not name.endswith("/")]
texts = [name.rpartition("/")[2] for name in names if "/licenses/bundled/" in name]
for name in names:
    library = name.rpartition("/")[2]
    package = library.partition("-")[0].partition("p-r0")[0].replace("openblasp", "openblas")
    if ".libs/" in name and not any(text.startswith(package) for text in texts):
        sys.exit(f"no license of {name} among {texts}")
(record,) = (name for name in names if name.endswith("/RECORD"))
rows = {row[0]: row[1] for row in csv.reader(wheel.read(record).decode().splitlines())}
for name in names:
    digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode()
    if name != record and rows.pop(name) != "sha256=" + digest.rstrip("="):
        sys.exit(f"RECORD has other bytes of {name}")
sys.exit(0 if texts and list(rows) == [record] else f"left over: {rows}, {texts}")
END
}
tell 'it has the licenses of what it contains' licensed
tell "it has less than 30 MB" [ "$(stat -c %s "$wheel")" -lt 30000000 ]
make_sdist() { "$tools/python" -m build --sdist --no-isolation -o "$tmp/made" "$clone"; }
tell 'the sdist' make_sdist
sdist=$tmp/made/certreg-$version.tar.gz
tracked() {
    diff <(cd "$tmp/pristine" && find . -type f | sed 's|^./||' | sort) \
        <(tar tzf "$sdist" | sed 's|^[^/]*/||' | grep -v '^PKG-INFO$' | sort)
}
tell 'it has the tracked files' tracked
no_compiler() {
    local said
    said=$(CC=none-such "$tools/pip" wheel --no-deps --no-build-isolation -w "$tmp/none" "$clone" \
        2>&1) && return 1
    grep -q 'C sources, and none-such cannot be found; install' <<<"$said" || ! echo "$said"
}
tell 'a missing compiler is named' no_compiler

# ---- installed
awk '/^<!-- examples\/python\/example.py/ { here = 1 } here && /^```$/ { exit }
    on; here && /^```python$/ { on = 1 }' README.md >"$tmp/elsewhere/example.py"
sed -n '/^    \$ python3 examples/,/^$/p' README.md | sed '1d;/^$/d;s/^    //' >"$tmp/said"
[ -d python/certreg/cli ] && command=yes || command=
cd "$tmp/elsewhere" || exit 2
example() { diff "$tmp/said" <("$env/bin/python" example.py); }
certifies() { "$env/bin/python" "$root/tests/python/installed.py" "$version" "$1" ${2:+"$2"}; }
says_version() { "$env/bin/certreg" --version | grep -F "$version"; }
nothing_left() {
    local left
    left=$(find "$env" -name '*certreg*')
    [ -z "$left" ] || { echo "$left"; false; }
}
pip() { "$env/bin/python" -m pip "$@"; }
works() { # NAME FOLDER-OF-ITS-LIBRARY FOLDER-OF-ALL-BLAS-OR-EMPTY WHAT-PIP-INSTALLS...
    tell "$1: pip install" pip install "${@:4}"
    tell "$1: certifies" certifies "${@:2:2}"
    tell "$1: README's example" example
    if [ -n "$command" ]; then
        tell "$1: certreg --version" says_version
        tell "$1: certreg info" "$env/bin/certreg" info
    fi
    tell "$1: pip uninstall" pip uninstall -y certreg
    tell "$1: nothing is left" nothing_left
}
is_clean() { diff -r -x __pycache__ "$tmp/pristine" "$clone"; }

interpreters() { # one CPython of each version: its minor number, its path
    compgen -c python3. | grep -x 'python3\.[0-9]*' | sort -u | cat - <(echo python3) \
        <(printf '%s\n' ~/.pyenv/versions/*/bin/python3) | while read -r python; do
        "$python" - 2>/dev/null <<'END'
import ensurepip, platform, ssl, sys, venv
if platform.python_implementation() == "CPython" and sys.version_info >= (3, 10):
    print(sys.version_info[1], sys.executable)
END
    done | sort -n -u -k 1,1
}
in_one() { # MINOR PATH
    local name=3.$1 env=$tmp/env-$1
    bad=0
    tell "$name: a new environment" "$2" -m venv "$env"
    works "$name, wheel" "$env" "$env" "$wheel"
    works "$name, repository" "$env" '' "$clone"
    return "$bad"
}
mapfile -t found < <(interpreters)
[ "${#found[@]}" != 0 ] || { echo 'not ok no CPython from 3.10 on was found'; bad=1; }
for one in "${found[@]}"; do
    in_one "${one%% *}" "${one#* }" >"$tmp/in-${one%% *}" &
    jobs+=($!)
done
for one in "${!jobs[@]}"; do
    wait "${jobs[$one]}" || bad=1
    cat "$tmp/in-${found[$one]%% *}"
done
tell 'the repository is as it was' is_clean
env=$tmp/env-${found[0]%% *}
works 'the sdist' "$env" '' "$sdist"
works 'editable' "$clone/lib" '' -e "$clone"
exit "$bad"
