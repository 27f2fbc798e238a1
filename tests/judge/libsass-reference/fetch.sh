#!/bin/sh
# fetch.sh DEST: the source of LibSass 3.5.4, as the Python package libsass 0.14.5 carries it.
set -eu
mkdir -p "$1"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$scratch" libsass==0.14.5
tar -xzf "$scratch"/*.tar.gz -C "$scratch" --strip-components=1
cp -R "$scratch/libsass/." "$1"/
