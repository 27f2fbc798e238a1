#!/bin/sh
# fetch.sh DEST: the source of c-ares 1.12, as the crate c-ares-sys 1.0.2 carries it.
set -eu
name=c-ares-sys version=1.0.2 part=c-ares
sha256=578511aab93b55f23a1f33597e57a637741b4576c9561264f0e1b88d93727342
mkdir -p "$1"
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
crate=$scratch/$name.crate

cached() { # what cargo has fetched before
  for kept in "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$name-$version.crate"; do
    [ -f "$kept" ] && cp "$kept" "$crate" && return
  done
  return 1
}

with_cargo() { # knows the user's mirrors and proxies
  command -v cargo >/dev/null || return 1
  mkdir "$scratch/src" && : >"$scratch/src/lib.rs"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\n%s = "=%s"\n' "$name" "$version" >"$scratch/Cargo.toml"
  cargo fetch --quiet --manifest-path "$scratch/Cargo.toml" && cached
}

with_web() {
  url=https://static.crates.io/crates/$name/$name-$version.crate
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 3 --output "$crate" "$url"
  else
    wget -q -O "$crate" "$url"
  fi
}

cached || with_cargo || with_web || {
  echo "fetch.sh: the crate $name $version cannot be fetched; this needs the network, and cargo, curl or wget" >&2
  exit 1
}
echo "$sha256  $crate" | sha256sum --check --quiet
tar -xzf "$crate" -C "$scratch"
cp -R "$scratch/$name-$version/$part/." "$1"/
