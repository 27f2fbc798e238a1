#!/bin/sh
# fetch.sh DEST: the source of wasm3 0.4.9, as the Python package pywasm3 0.4.9 carries it.
set -eu
mkdir -p "$1"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$scratch" pywasm3==0.4.9
tar -xzf "$scratch"/*.tar.gz -C "$scratch" --strip-components=1
cp -R "$scratch/m3/." "$1"/
