#!/bin/sh
# fetch.sh VERSION DEST: the source of LibSass, as this version of the Python package libsass carries it.
set -eu
mkdir -p "$2"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$scratch" "libsass==$1"
tar -xzf "$scratch"/*.tar.gz -C "$scratch" --strip-components=1
cp -R "$scratch/libsass/." "$2"/
