#!/bin/sh
# fetch.sh DEST: the source of OpenSSL 3.0.5, as the crate openssl-src 300.0.9 carries it.
set -eu
name=openssl-src version=300.0.9+3.0.5
mkdir -p "$1"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/src" && : >"$scratch/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\n%s = "=%s"\n' $name "$version" >"$scratch/Cargo.toml"
cargo fetch --quiet --manifest-path "$scratch/Cargo.toml"
tar -xzf "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$name-$version.crate" -C "$scratch"
cp -R "$scratch/$name-$version/openssl/." "$1"/
