#!/usr/bin/env bash
# packages.sh FOLDER: unpacks into FOLDER the libraries of arm64 with which tests are linked. apt
# keeps its files about arm64 in a temporary folder, so that the system's lists stay as they are.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp"/{lists,cache/archives}/partial "$tmp/debs"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
    -o Dir::State::Lists="$tmp/lists" -o Dir::Cache="$tmp/cache")
"${apt[@]}" update
cd "$tmp/debs"
"${apt[@]}" download check libsubunit-dev libsubunit0 liblapacke-dev libtmglib-dev \
    libopenblas-pthread-dev libopenblas0-pthread libgfortran5
for package in *.deb; do dpkg -x "$package" "$tmp/root"; done
mkdir -p "$(dirname "$1")"
rm -rf "$1"
mv "$tmp/root" "$1"
