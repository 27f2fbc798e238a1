#!/bin/sh
# fetch.sh DEST: the source of Lua 5.4.0, as the crate lua-src 540.0.1 carries it.
set -eu
name=lua-src version=540.0.1 part=lua-5.4.0
sha256=e3abacd03794cff973408c83f918215649d4b4612eb25049a305c2fd74e0f69f
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
