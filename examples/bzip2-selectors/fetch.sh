#!/bin/sh
# fetch.sh DEST: the source of bzip2 1.0.6, as the crate bzip2-sys 0.1.7 carries it.
set -eu
name=bzip2-sys version=0.1.7 part=bzip2-1.0.6
sha256=6584aa36f5ad4c9247f5323b0a42f37802b37a836f0ad87084d7a33961abe25f
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
