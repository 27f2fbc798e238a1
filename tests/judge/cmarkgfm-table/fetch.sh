#!/bin/sh
# fetch.sh DEST: the source of cmark-gfm 0.29.0.gfm.2, as the Python package cmarkgfm 0.7.0 carries it.
set -eu
mkdir -p "$1"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$scratch" cmarkgfm==0.7.0
tar -xzf "$scratch"/*.tar.gz -C "$scratch" --strip-components=1
rm -f "$scratch"/*.tar.gz
cp -R "$scratch/." "$1"/
